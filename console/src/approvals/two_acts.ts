// An answer takes two acts: one chooses, the other confirms. The question must be visible for a second before the first
// act. The second act comes at least 400 ms later and at another place. Any change in between cancels the first act.

export const VISIBLE_TIME = 1000;
export const ACT_INTERVAL = 400;

export type Choice = "approve" | "deny" | "answer" | "accept" | "dismiss";
export interface Act {
  at: number;
  trusted: boolean; // the event comes from a device, not from a script
  repeated: boolean; // a held key, or the second click of a double click
  x: number | null; // the place of the pointer; null: no pointer was used
  y: number | null;
}

export class TwoActs {
  choice: Choice | null = null;
  private visibleSince: number | null = null;
  private first: Act | null = null;

  // The question, complete and in its current state, came into view or left it.
  appeared(at: number): void {
    this.visibleSince ??= at;
  }
  vanished(): boolean {
    this.visibleSince = null;
    return this.cancel();
  }

  ready(at: number): boolean {
    return this.visibleSince !== null && at - this.visibleSince >= VISIBLE_TIME;
  }

  choose(choice: Choice, act: Act): boolean {
    if (!act.trusted || act.repeated || !this.ready(act.at) || this.choice === choice) return false;
    this.choice = choice;
    this.first = act;
    return true;
  }

  // The confirmed choice. Null: this act confirms nothing.
  confirm(act: Act, box: { left: number; top: number; right: number; bottom: number } | null): Choice | null {
    const first = this.first;
    if (!act.trusted || act.repeated || first === null || this.choice === null || act.at - first.at < ACT_INTERVAL) return null;
    const sameSpot = box !== null && first.x !== null && first.y !== null && first.x >= box.left && first.x <= box.right && first.y >= box.top && first.y <= box.bottom;
    if (sameSpot) return null;
    const choice = this.choice;
    this.choice = this.first = null;
    return choice;
  }

  // True if there was a first act to cancel.
  cancel(): boolean {
    const hadChoice = this.choice !== null;
    this.choice = this.first = null;
    return hadChoice;
  }
}
