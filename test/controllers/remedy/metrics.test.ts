import { describe, expect, it } from 'vitest';
import type { RemedyFinding } from '../../../src/controllers/remedy/findings.ts';
import { registerFaultMetrics } from '../../../src/controllers/remedy/metrics.ts';
import { createMetrics } from '../../../src/kube/process/metrics.ts';
import { ago } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';

const RULE = remedier({});

function finding(outcome: RemedyFinding['outcome'], since?: string): RemedyFinding {
  return { outcome, because: '', isSinceKnown: true, ...(since ? { since: new Date(since) } : {}) };
}

/** The number of faults after these findings, one reconcile after the other; the first one is after a start. */
async function countOf(...findings: readonly RemedyFinding[]): Promise<number | undefined> {
  const metrics = createMetrics();
  const faults = registerFaultMetrics(metrics);
  let before: ReadonlyMap<string, RemedyFinding> | undefined;
  for (const each of findings) {
    faults.found([{ remedier: RULE, finding: each }], before);
    before = new Map([[RULE.metadata.name, each]]);
  }
  const found = /^kubenode_remedy_faults_total\{.*\} (?<count>\d+)$/m.exec(await metrics.text());
  return found ? Number(found[1]) : undefined;
}

describe('registerFaultMetrics', () => {
  const [first, second] = [ago(600), ago(60)];
  const well = finding('NoMatch');
  it.each<[name: string, findings: readonly RemedyFinding[], count: number]>([
    ['one that begins', [well, finding('Match', first)], 1],
    ['one that stays as one', [well, finding('Match', first), finding('Match', first)], 1],
    ['one whose gate was closed at first as one', [well, finding('Held', first), finding('Match', first)], 1],
    [
      'one that was away too briefly to be over as one',
      [well, finding('Match', first), finding('NoMatch', first), finding('Match', first)],
      1,
    ],
    ['one that comes back as two', [well, finding('Match', first), well, finding('Match', second)], 2],
    ['none that was there when the process started', [finding('Match', first), finding('Match', first)], 0],
    ['none of a rule without a fault, as 0', [well], 0],
    ['none while the facts are unknown', [well, finding('Indeterminate', first)], 0],
  ])('DAT-03 counts each fault once: %s', async (_, findings, count) => {
    expect(await countOf(...findings)).toBe(count);
  });
});
