// An answer takes two acts: one that chooses, and one that confirms, at another place, at least 400 ms later, on a question
// that was visible for a second before the first. Everything that changes in between takes the first act back.

export const VISIBLE = 1000;
export const APART = 400;

export type Choice = "approve" | "deny" | "answer" | "accept" | "dismiss";
export interface Act {
  at: number;
  trusted: boolean; // made by a person's device, not by a script
  repeated: boolean; // a held key, or the second click of a double click
  x: number | null; // where a pointer acted
  y: number | null;
}

export class TwoActs {
  choice: Choice | null = null;
  private visibleSince: number | null = null;
  private first: Act | null = null;

  // The question, whole and as it is, came into view or left it.
  appeared(at: number): void {
    this.visibleSince ??= at;
  }
  vanished(): boolean {
    this.visibleSince = null;
    return this.cancel();
  }

  ready(at: number): boolean {
    return this.visibleSince !== null && at - this.visibleSince >= VISIBLE;
  }

  choose(choice: Choice, act: Act): boolean {
    if (!act.trusted || act.repeated || !this.ready(act.at) || this.choice === choice) return false;
    this.choice = choice;
    this.first = act;
    return true;
  }

  // What is confirmed, or null where this act confirms nothing.
  confirm(act: Act, box: { left: number; top: number; right: number; bottom: number } | null): Choice | null {
    const first = this.first;
    if (!act.trusted || act.repeated || first === null || this.choice === null || act.at - first.at < APART) return null;
    const same = box !== null && first.x !== null && first.y !== null && first.x >= box.left && first.x <= box.right && first.y >= box.top && first.y <= box.bottom;
    if (same) return null;
    const choice = this.choice;
    this.choice = this.first = null;
    return choice;
  }

  // True where there was a first act to take back.
  cancel(): boolean {
    const had = this.choice !== null;
    this.choice = this.first = null;
    return had;
  }
}
