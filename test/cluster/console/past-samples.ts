/** A day of a fleet of 9,840 machines, as Prometheus has it: a rollout, a zone that fell ill, and an hour without scrapes. */
import type { PastSample } from '../../support/prometheus.ts';

const STEP = 30;
const DAY = 86_400;
const MACHINES = 9840;
/** The hours before now in which nothing was scraped. */
const GAP_HOURS: readonly [from: number, to: number] = [9, 8];

interface Moment {
  readonly ready: number;
  readonly changing: number;
  readonly trouble: number;
  readonly repairs: number;
  readonly grants: number;
  readonly updated: number;
  readonly contact: number;
}

const SERIES: Readonly<Record<keyof Moment, string>> = {
  ready: 'kubenode_machines{state="Ready"}',
  trouble: 'kubenode_machines{state="NotReady"}',
  changing: 'kubenode_machines_changing',
  repairs: 'kubenode_remedy_open_jobs',
  grants: 'kubenode_defender_grants{state="Started"}',
  updated: 'kubenode_rollout_machines{set="general",state="updated"}',
  contact: 'kubenode_sync_contact_age_seconds{cluster="eu-1"}',
};

/** `without`: the lines whose metric was renamed by relabeling. */
export function pastSamples(
  nowSeconds: number,
  without: readonly (keyof Moment)[] = [],
): readonly PastSample[] {
  const times = Array.from({ length: DAY / STEP }, (_, index) => nowSeconds - DAY + index * STEP);
  const scraped = times.filter((seconds) => {
    const hours = (nowSeconds - seconds) / 3600;
    return hours > GAP_HOURS[0] || hours < GAP_HOURS[1];
  });
  const fields = (Object.keys(SERIES) as (keyof Moment)[]).filter((field) => !without.includes(field));
  return fields.flatMap((field) =>
    scraped.map(
      (seconds): PastSample => [SERIES[field], momentAt((nowSeconds - seconds) / 3600)[field], seconds],
    ),
  );
}

/** So many hours before now. */
function momentAt(hours: number): Moment {
  const wave = Math.round(10 * Math.sin(hours * 7) + 10);
  const changing = hours < 6 ? 20 + wave : 0;
  const { trouble, repairs } = troubleAt(hours);
  return {
    ready: MACHINES - 28 - trouble - Math.round(changing / 2),
    changing,
    trouble,
    repairs,
    grants: Math.round(changing / 2) + repairs,
    updated: hours < 6 ? Math.round(((6 - hours) / 6) * 6000) + 3000 : MACHINES - 40,
    contact: 2 + (wave % 5),
  };
}

function troubleAt(hours: number): Pick<Moment, 'trouble' | 'repairs'> {
  if (hours > 0.3 && hours < 0.7) return { trouble: 14, repairs: 3 };
  return hours % 5 < 0.2 ? { trouble: 2, repairs: 1 } : { trouble: 0, repairs: 0 };
}
