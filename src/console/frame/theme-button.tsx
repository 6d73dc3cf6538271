import { currentTheme, switchTheme } from "../page/theme.ts";
import { Icon } from "../parts/icon.tsx";

export function ThemeButton() {
  const label = `Use the ${currentTheme() === "dark" ? "light" : "dark"} theme`;
  return (
    <button
      type="button"
      class="button quiet icon-only"
      aria-label={label}
      title={label}
      onClick={switchTheme}
    >
      <Icon name="theme" />
    </button>
  );
}
