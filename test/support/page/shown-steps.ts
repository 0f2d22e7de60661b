/** What a person who watches the console sees of each step of the tour, and on which page. */
import { PAGES, type PageName } from '../../../src/console/state/pages/address.ts';
import type { TourStepResult } from '../../../src/demo/tour/runner.ts';
import type { PageRecorder, ShownText } from './recorder.ts';

type ShownPart = readonly [page: PageName, shown: RegExp];

export const SHOWN_BY_STEP: Readonly<Record<string, readonly ShownPart[]>> = {
  rollout: [
    ['fleet', /Rollout general in prod \d of 6 machines updated, batch \d of 3/],
    [
      'releases',
      /web 1\.\S+ kubenode tour \S+ ago Proven for .* Promoting for \S+ 0 of 1 clusters proven pre: /,
    ],
    ['rollouts', /general in prod Running \w+ for \S+ web-\S+ to web-1\.\S+ ✓ batch 1 ● batch 2 ○ batch 3/],
    ['limits', /prod\/general-\w+: UpdateComponent, Started to MachineComponentSet general/],
  ],
  'bad-version': [
    ['fleet', /Rollout general in test Failed .*web 2\.\S+ was rolled back/],
    ['rollouts', /general in test Failed .*answered 500/],
    ['releases', /Revert "web 2\.\S+" kubenode tour/],
  ],
  'fleet-limits': [
    ['limits', /fleet over clusters Held .* componentUpdate web-2\.\S+ failed in pre, test/],
    ['rollouts', /general in pre Failed .*answered 500/],
  ],
  repair: [['fleet', /general-\w+: (?:web does not run|probes of web fail)/]],
  'kernel-hang': [
    ['fleet', /Repair of general-\w+ in test \w+ for \S+, rule kernel-hang, rung reboot/],
    ['repairs', /general-\w+ in test Running \w+ for \S+ Rule kernel-hang, rung reboot, attempt \d/],
    ['limits', /test, fleet-default: zone east: 1 of 1, full/],
  ],
  'dark-zone': [
    ['fleet', /Incidents .*prod: zone west is dark: 3 of 3 nodes are not Ready/],
    ['repairs', /general-\w+ in pre Running .*Rule dead-machine, rung replace/],
    ['health', /Incidents .*prod: zone west is dark: 3 of 3 nodes are not Ready/],
  ],
  'bad-rule': [
    ['releases', /needs a person Pipeline fleet: .*NodeRemedier kernel-hang of .* failed: expected Match/],
  ],
  'unsigned-commit': [
    ['releases', /needs a person Pipeline fleet: commit \w+ \(Let grants linger\): it is not signed/],
  ],
  freeze: [['fleet', /Pipeline fleet: closed now by freeze tour until \S+: the tour shows a freeze/]],
  'push-hook': [['releases', /Let grants linger kubenode tour \S+ ago/]],
  'hosted-cluster': [
    ['fleet', /Stage test .* ci-\d+ for \S+ commit \w+ Applying/],
    ['fleet', /ci-\d+ \w+: 2 Ready/],
    ['rollouts', /general in ci-\d+ Running \w+ for \S+ web-\S+ to web-\S+/],
    ['repairs', /general-\w+ in ci-\d+ Running .*Rule kernel-hang, rung reboot/],
    ['releases', /needs a person Pipeline fleet: the hub's own objects: acknowledge unit/],
  ],
  crash: [
    ['rollouts', /general in prod Running \w+ for \S+ web-\S+ to web-\S+ ✓ batch 1 ✓ batch 2 ● batch 3/],
  ],
};

export interface EndedStep {
  readonly result: TourStepResult;
  readonly atMs: number;
}

/** What a step has changed last is on the pages a moment later. */
const LATE_MS = 5000;

/** Tells whether a text within the window has more matches than the one before it: what other steps have left on the page does not count. */
function isNew(
  texts: readonly ShownText[],
  pattern: RegExp,
  [fromMs, untilMs]: readonly [fromMs: number, untilMs: number],
): boolean {
  const all = new RegExp(pattern, 'gu');
  const counts = texts.map(({ atMs, text }) => ({ atMs, count: [...text.matchAll(all)].length }));
  return counts.some(({ atMs, count }, index) => {
    const before = counts[index - 1]?.count ?? 0;
    return atMs >= fromMs && atMs <= untilMs && count > before;
  });
}

/** Returns what no page has shown while its step was taken. `steps`: in the order in which they ended, each with its time. */
export async function notShown(
  recorder: PageRecorder,
  steps: readonly EndedStep[],
): Promise<readonly string[]> {
  const shown = new Map<PageName, readonly ShownText[]>();
  for (const page of PAGES) shown.set(page, await recorder.shown(page));
  return steps.flatMap(({ result, atMs }, index) => {
    const fromMs = steps[index - 1]?.atMs ?? 0;
    const parts = SHOWN_BY_STEP[result.name];
    if (!parts) return [`nothing is expected of ${result.name}`];
    const missing = parts.filter(
      ([page, pattern]) => !isNew(shown.get(page) ?? [], pattern, [fromMs, atMs + LATE_MS]),
    );
    return missing.map(
      ([page, pattern]) => `${result.name}: the page ${page} never showed ${String(pattern)}`,
    );
  });
}
