import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Agents } from "../agents/agents";
import { Approvals } from "../approvals/approvals";
import { waitingCount } from "../approvals/queue";
import { Calls } from "../calls/calls";
import { servesRecords } from "../core/health";
import { Link } from "../core/link";
import { logout, roles, session, starting } from "../core/session";
import { type Key, language, setLanguage, t } from "../core/text";
import { address, screen } from "../core/url";
import { Grants } from "../grants/grants";
import { HealthPage } from "../health/health_page";
import { KeysPage } from "../keys/keys_page";
import { Live } from "../live/live";
import { PoliciesScreen } from "../policies/policies";
import { Proof } from "../proof/proof";
import { Tools } from "../tools/tools";
import { Banner } from "./banner";
import { Login } from "./login";

interface Screen {
  name: string;
  title: Key;
  component: ComponentType;
  roles?: string[]; // a person needs one of them; absent: every person may open the screen
}

const SCREENS: Screen[] = [
  { name: "approvals", title: "nav.approvals", component: Approvals, roles: ["approver", "viewer"] },
  { name: "calls", title: "nav.calls", component: Calls, roles: ["viewer", "auditor"] },
  { name: "live", title: "nav.live", component: Live, roles: ["viewer"] },
  { name: "proof", title: "nav.proof", component: Proof, roles: ["viewer"] },
  { name: "agents", title: "nav.agents", component: Agents, roles: ["viewer"] },
  { name: "policies", title: "nav.policies", component: PoliciesScreen, roles: ["viewer"] },
  { name: "tools", title: "nav.tools", component: Tools, roles: ["viewer"] },
  { name: "grants", title: "nav.grants", component: Grants, roles: ["viewer"] },
  { name: "health", title: "nav.health", component: HealthPage },
  { name: "keys", title: "nav.keys", component: KeysPage },
];

function mayOpen({ name, roles: needed }: Screen): boolean {
  if (name !== "approvals" && name !== "keys" && !servesRecords.value) return false;
  return needed === undefined || needed.some((role) => roles.value.has(role));
}

// If the address names no screen, this is the first screen that the person may open.
function currentScreen(): Screen | undefined {
  return SCREENS.find((one) => (screen.value === "" ? mayOpen(one) : one.name === screen.value));
}

function Language() {
  const next = language.value === "uk" ? "en" : "uk";
  return (
    <button type="button" class="plain" lang={next} onClick={() => void setLanguage(next)}>
      {next === "uk" ? "Українською" : "English"}
    </button>
  );
}

function Header() {
  const currentName = currentScreen()?.name;
  const nav = useRef<HTMLElement>(null);
  // On a narrow display the navigation scrolls. Keeps the current name in view.
  useEffect(() => {
    const here = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (here) nav.current!.scrollLeft = here.offsetLeft - nav.current!.clientWidth / 2;
  }, [currentName]);
  return (
    <header class="top">
      <a class="skip" href="#content">
        {t("nav.skip")}
      </a>
      <span class="brand">Sallyport</span>
      <nav ref={nav} aria-label={t("nav.screens")}>
        {SCREENS.filter((one) => one.name !== "keys" && mayOpen(one)).map(({ name, title }) => (
          <Link to={address(name)} current={name === currentName}>
            {t(title)}
            {name === "approvals" && waitingCount.value > 0 && <span class="count">{waitingCount.value}</span>}
          </Link>
        ))}
      </nav>
      <span class="who">
        <Link to={address("keys")} class="name" current={currentName === "keys"} title={`${t("nav.keys")} · ${session.value!.roles.join(", ")}`}>
          {session.value!.name}
        </Link>
        <Language />
        <button type="button" class="plain" onClick={() => void logout()}>
          {t("nav.logout")}
        </button>
      </span>
    </header>
  );
}

export function App() {
  document.documentElement.lang = language.value === "uk" ? "uk" : "en";
  if (starting.value) return <p class="starting">Sallyport</p>;
  if (!session.value) {
    return (
      <>
        <Login />
        <footer class="foot">
          <Language />
        </footer>
      </>
    );
  }
  const current = currentScreen();
  const fallback = current && servesRecords.value ? "nav.closed" : "nav.nothing";
  const Show = current && mayOpen(current) ? current.component : undefined;
  document.title = `${waitingCount.value > 0 ? `(${waitingCount.value}) ` : ""}${t(current && Show ? current.title : fallback)} · Sallyport`;
  return (
    <>
      <Header />
      <Banner />
      <main id="content" tabIndex={-1}>
        {Show ? <Show /> : <p class="quiet empty">{t(fallback)}</p>}
      </main>
    </>
  );
}
