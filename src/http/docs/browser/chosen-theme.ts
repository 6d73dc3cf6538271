// Uses the theme that was chosen here or in the console. It runs before the page is drawn, so that a dark
// page does not flash white, and is therefore not a module. main.ts and src/console/page/theme.ts use the
// same name for the stored theme.
try {
  const chosen = window.localStorage.getItem("petstore-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // A browser without storage follows the system.
}
