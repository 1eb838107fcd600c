const button = document.getElementById("theme");
const preferred = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme ?? (preferred.matches ? "dark" : "light")) === "dark";
const updateButton = () => {
  button.setAttribute("aria-pressed", String(isDark()));
  button.textContent = isDark() ? "Light" : "Dark";
};
button.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  updateButton();
});
preferred.addEventListener("change", updateButton);
updateButton();
