import { describe, expect, it } from 'vitest';
import type { ComponentWaitReason } from '../../../src/agent/component/operation.ts';
import { NO_DRIFT } from '../../../src/agent/journal/drift.ts';
import { needsScan, SCAN_MS } from '../../../src/agent/run/scan.ts';
import type { ReportedComponent } from '../../../src/agent/status/report.ts';

const PROGRESS = { component: 'proxy', state: 'Committed', denied: [], history: [], since: '' } as const;
const AT_REST: ReportedComponent = {
  desired: { state: 'Orphaned' },
  progress: PROGRESS,
  drift: NO_DRIFT,
  findings: [],
  units: new Map(),
};
const STAGED = { ...PROGRESS, state: 'Staged', transition: { step: 'Staged' } } as never;

function waiting(reason: ComponentWaitReason): Partial<ReportedComponent> {
  return { wait: { reason, message: '' } };
}

describe('when the agent observes its whole host', () => {
  it.each<[string, boolean, Parameters<typeof needsScan>[0]]>([
    ['nothing changed', false, { reason: 'Elapsed', sinceScanMs: SCAN_MS - 1, reports: new Map() }],
    ['something changed', true, { reason: 'Changed', sinceScanMs: 0, reports: new Map() }],
    [
      'a watch may have missed a change',
      true,
      { reason: 'Elapsed', sinceScanMs: SCAN_MS, reports: new Map() },
    ],
  ])('%s: %s', (_, expected, input) => {
    expect(needsScan(input)).toBe(expected);
  });

  it.each<[string, boolean, Partial<ReportedComponent>]>([
    ['is at rest', false, {}],
    ['changes', true, { progress: STAGED }],
    ['has drift', true, { findings: [{}] as never }],
    ['failed', true, { failure: { code: 'DiskFull', message: '' } }],
    ['is staged, and waits for its grant', false, { progress: STAGED, ...waiting('GrantNeeded') }],
    ['waits for another component', true, waiting('DependencyNotCommitted')],
    ['waits for the end of a hold', false, waiting('Held')],
    ['failed while it waits', true, { failure: { code: 'Download', message: '' }, ...waiting('Held') }],
  ])('one of two components %s: %s', (_, expected, fields) => {
    const reports = new Map([
      ['one', AT_REST],
      ['two', { ...AT_REST, ...fields }],
    ]);
    expect(needsScan({ reason: 'Elapsed', sinceScanMs: 0, reports })).toBe(expected);
  });
});
