/**
 * Limits what is read of the other clusters of a console with a login. The memory grows with the machines, whatever number of clusters they
 * are in: so the machines are counted, before they are read.
 */

export interface MachinePlaces {
  /** Takes places for a cluster with this number of machines. Returns how to free them, or why there are too few. */
  take(person: string, machines: number): (() => void) | string;
  /** Returns how many places a cluster with this number of machines takes. */
  sizeOf(machines: number): number;
  /** Returns how many places are taken. */
  readonly taken: number;
}

export interface PlaceLimits {
  readonly total: number;
  readonly perPerson: number;
  readonly perCluster: number;
}

/**
 * 10,000 machines take 35 MiB. Those of the hub, of twelve people, are limited by the number of fleets and take 420 MiB; these take 210 MiB
 * more, and the pod has 1 GiB with 130 MiB for itself. A cluster counts as 625 machines at least, for its five watches and connections: so
 * twelve fleets with eight small clusters each are the total.
 */
export const PLACE_LIMITS: PlaceLimits = { total: 60_000, perPerson: 30_000, perCluster: 625 };

export function createMachinePlaces({
  total,
  perPerson,
  perCluster,
}: PlaceLimits = PLACE_LIMITS): MachinePlaces {
  const least = ` (counted as at least ${perCluster})`;
  const byPerson = new Map<string, number>();
  let taken = 0;

  return {
    take(person, machines) {
      const count = sizeOf(machines);
      const own = byPerson.get(person) ?? 0;
      if (own + count > perPerson) {
        return `you read ${own} machines of other clusters, this one has ${machines}${least}, and ${perPerson} is the limit of a person: sign out where you do not need it`;
      }
      if (taken + count > total) {
        return `all people read ${taken} machines of other clusters, this one has ${machines}${least}, and ${total} is the limit of the console: it is tried again`;
      }
      change(person, count);
      let isFreed = false;
      return () => {
        if (!isFreed) change(person, -count);
        isFreed = true;
      };
    },
    sizeOf,
    get taken() {
      return taken;
    },
  };

  function sizeOf(machines: number): number {
    return Math.max(machines, perCluster);
  }

  function change(person: string, count: number): void {
    taken += count;
    const own = (byPerson.get(person) ?? 0) + count;
    if (own === 0) byPerson.delete(person);
    else byPerson.set(person, own);
  }
}
