import { describe, expect, it } from 'vitest';
import { BEGUN_MS, GENERATION_MS, reportDelayMs } from '../../../src/agent/status/report-delay.ts';
import type { MachineComponentReport, MachineStatus } from '../../../src/api/generated/types.ts';
import { ago, condition } from '../../support/builders.ts';

type Report = Partial<MachineStatus>;
type ComponentParts = Partial<MachineComponentReport>;

interface Parts {
  readonly generation?: number;
  readonly entries?: string;
  readonly app?: ComponentParts;
  readonly others?: readonly MachineComponentReport[];
  readonly behind?: boolean;
  readonly more?: Report;
}

/** Version 1 is committed, and everything is at its entry. */
function report({ generation = 1, entries = '1', app = {}, others = [], behind, more }: Parts = {}): Report {
  const status = behind ? 'False' : 'True';
  return {
    agent: { observedGeneration: generation, entriesDigest: `sha256:${entries}`, version: '1.0.0' },
    components: [{ name: 'app', desiredRef: 'app-1', state: 'Committed', since: ago(60), ...app }, ...others],
    conditions: ['ComponentsReady', 'UpToDate', 'DriftDetected'].map((type) =>
      condition(type, type === 'DriftDetected' ? 'False' : status, { observedGeneration: generation }),
    ),
    ...more,
  };
}

const WRITTEN = report();
const begun = (app: ComponentParts, more: Parts = {}): Report =>
  report({
    generation: 2,
    entries: '2',
    behind: true,
    app: { desiredRef: 'app-2', since: ago(0), ...app },
    ...more,
  });
const wait = (reason: string): ComponentParts => ({ waiting: { reason, since: ago(0), message: 'waits' } });

const AT_ONCE = 0;
const NO_STATE = { state: undefined } as unknown as ComponentParts;

describe('reportDelayMs', () => {
  it.each<[what: string, next: Report, delayMs: number | undefined]>([
    ['nothing new', report(), undefined],
    ['a generation alone', report({ generation: 2 }), GENERATION_MS],
    ['other entries in the same state', report({ generation: 2, entries: '2' }), AT_ONCE],
    ['another version of the agent', report({ more: { agent: { version: '2.0.0' } } }), AT_ONCE],
    ['a download that begins', begun({ state: 'Fetching', ...wait('Downloading') }), BEGUN_MS],
    ['a version that is staged', begun({ state: 'Staged' }), BEGUN_MS],
    ['an activation', begun({ state: 'Activating', running: false }), BEGUN_MS],
    ['a probation', begun({ state: 'Probation', ...wait('ProbesPending') }), BEGUN_MS],
    [
      'a component that is new',
      begun({}, { others: [{ name: 'new', state: 'Fetching' }], app: {} }),
      BEGUN_MS,
    ],
    ['a version that is committed', begun({ state: 'Committed' }), AT_ONCE],
    ['a wait for a grant', begun({ state: 'WaitingForGrant', ...wait('GrantNeeded') }), AT_ONCE],
    ['a wait for a drain', begun({ state: 'WaitingForDrain', ...wait('DrainPending') }), AT_ONCE],
    ['a host that differs', begun({ state: 'Staged', ...wait('HostDiffers') }), AT_ONCE],
    ['a hold', begun({ state: 'Staged', ...wait('Held') }), AT_ONCE],
    ['a rollback', begun({ state: 'RollingBack' }), AT_ONCE],
    ['an error', begun({ state: 'Fetching', error: { code: 'NotFound', message: 'no file' } }), AT_ONCE],
    ['a component without a state', begun(NO_STATE), AT_ONCE],
    [
      'drift, beside a version that begins',
      begun(
        { state: 'Activating' },
        { more: { drift: [{ component: 'app', kind: 'Content', at: ago(0) }] } },
      ),
      AT_ONCE,
    ],
    ['facts, beside a version that begins', begun({ state: 'Activating' }, { more: { facts: {} } }), AT_ONCE],
    ['a component that is no longer there', report({ more: { components: [] } }), AT_ONCE],
    ['probes that fail', report({ app: { ready: false }, behind: true }), AT_ONCE],
  ])('%s', (_, next, delayMs) => {
    expect(reportDelayMs(WRITTEN, next, false)).toBe(delayMs);
  });

  it.each<[what: string, written: ComponentParts]>([
    ['a wait for a grant', { state: 'WaitingForGrant', ...wait('GrantNeeded') }],
    ['a download', { state: 'Fetching' }],
    ['a rollback', { state: 'RolledBack', error: { code: 'ProbeTimeout', message: 'no answer' } }],
    ['an orphan', { state: 'Orphaned' }],
  ])('tells at once that an activation follows %s, because controllers act on that', (_, written) => {
    expect(reportDelayMs(report({ app: written }), begun({ state: 'Activating' }), true)).toBe(AT_ONCE);
  });

  it('tells a generation at once while the entries have grants: the set settles them by it', () => {
    expect(reportDelayMs(WRITTEN, report({ generation: 2 }), true)).toBe(AT_ONCE);
  });

  it('tells the first report of a process at once', () => {
    expect(reportDelayMs(undefined, begun({ state: 'Activating' }), true)).toBe(AT_ONCE);
  });
});
