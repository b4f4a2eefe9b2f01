import type { ComponentType } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Agents } from "../agents/agents";
import { Approvals } from "../approvals/approvals";
import { waiting } from "../approvals/queue";
import { Calls } from "../calls/calls";
import { tellsRecords } from "../core/health";
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
  show: ComponentType;
  roles?: string[]; // any one of them opens it; none: everybody
}

const SCREENS: Screen[] = [
  { name: "approvals", title: "nav.approvals", show: Approvals, roles: ["approver", "viewer"] },
  { name: "calls", title: "nav.calls", show: Calls, roles: ["viewer", "auditor"] },
  { name: "live", title: "nav.live", show: Live, roles: ["viewer"] },
  { name: "proof", title: "nav.proof", show: Proof, roles: ["viewer"] },
  { name: "agents", title: "nav.agents", show: Agents, roles: ["viewer"] },
  { name: "policies", title: "nav.policies", show: PoliciesScreen, roles: ["viewer"] },
  { name: "tools", title: "nav.tools", show: Tools, roles: ["viewer"] },
  { name: "grants", title: "nav.grants", show: Grants, roles: ["viewer"] },
  { name: "health", title: "nav.health", show: HealthPage },
  { name: "keys", title: "nav.keys", show: KeysPage },
];

function opens({ name, roles: any }: Screen): boolean {
  if (name !== "approvals" && name !== "keys" && !tellsRecords.value) return false;
  return any === undefined || any.some((role) => roles.value.has(role));
}

// Of an address that names no screen, the first that opens for this person.
function chosen(): Screen | undefined {
  return SCREENS.find((one) => (screen.value === "" ? opens(one) : one.name === screen.value));
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
  const now = chosen()?.name;
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the names of the screens scroll; that of this one is in view.
  useEffect(() => {
    const here = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (here) nav.current!.scrollLeft = here.offsetLeft - nav.current!.clientWidth / 2;
  }, [now]);
  return (
    <header class="top">
      <a class="skip" href="#content">
        {t("nav.skip")}
      </a>
      <span class="brand">Sallyport</span>
      <nav ref={nav} aria-label={t("nav.screens")}>
        {SCREENS.filter((one) => one.name !== "keys" && opens(one)).map(({ name, title }) => (
          <Link to={address(name)} current={name === now}>
            {t(title)}
            {name === "approvals" && waiting.value > 0 && <span class="count">{waiting.value}</span>}
          </Link>
        ))}
      </nav>
      <span class="who">
        <Link to={address("keys")} class="name" current={now === "keys"} title={`${t("nav.keys")} · ${session.value!.roles.join(", ")}`}>
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
  const current = chosen();
  const missing = current && tellsRecords.value ? "nav.closed" : "nav.nothing";
  const Show = current && opens(current) ? current.show : undefined;
  document.title = `${waiting.value > 0 ? `(${waiting.value}) ` : ""}${t(current && Show ? current.title : missing)} · Sallyport`;
  return (
    <>
      <Header />
      <Banner />
      <main id="content" tabIndex={-1}>
        {Show ? <Show /> : <p class="quiet empty">{t(missing)}</p>}
      </main>
    </>
  );
}
