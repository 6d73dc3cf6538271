/** Shows which environment this is. Production looks different from staging. */
export function EnvironmentBadge() {
  const name = document.getElementById("console")?.dataset.environment;
  const isProduction = name === "production";
  return (
    <span class={`badge ${isProduction ? "accent" : "warning"}`} data-environment-badge>
      <span class="dot" />
      {isProduction ? "Production" : "Staging"}
    </span>
  );
}
