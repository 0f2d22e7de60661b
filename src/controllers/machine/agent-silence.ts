/**
 * When the silence of an agent is reported. Each is two writes, its begin and its end. When many agents fall silent at once, it is likelier that
 * the API server is slow than that all of them ended, and so many writes would keep it slow.
 */
export interface Silences {
  /** Until it may be reported; 0 from then on, until it ends. `machines`: in the fleet. */
  waitMs(machine: string, nowMs: number, machines: number): number;
  ended(machine: string, nowMs: number): void;
}

/** As many are reported at once: a rack. */
const AT_ONCE = 20;
const LEAST_PER_SECOND = 5;
/** However large the fleet is, its last silent agent is reported that much later. */
const ALL_WITHIN_MS = 100_000;

export function createSilences(): Silences {
  const turns = new Map<string, number>();
  /** The turn of the next one, if none was reported at once. */
  let nextMs = Number.NEGATIVE_INFINITY;
  let apartMs = 0;
  return {
    waitMs(machine, nowMs, machines) {
      const turn = turns.get(machine) ?? takeTurn(nowMs, machines);
      turns.set(machine, turn);
      return Math.max(0, turn - nowMs);
    },
    ended(machine, nowMs) {
      const turn = turns.get(machine);
      turns.delete(machine);
      // Others do not wait for one that came back.
      if (turn !== undefined && turn > nowMs) nextMs -= apartMs;
    },
  };

  function takeTurn(nowMs: number, machines: number): number {
    apartMs = Math.min(1000 / LEAST_PER_SECOND, ALL_WITHIN_MS / Math.max(1, machines));
    const turn = Math.max(nowMs, nextMs - (AT_ONCE - 1) * apartMs);
    nextMs = Math.max(nowMs, nextMs) + apartMs;
    return turn;
  }
}
