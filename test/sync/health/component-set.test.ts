/** What sync makes of the status that the controller of component sets writes. */
import { describe, expect, it } from 'vitest';
import type { MachineComponentSetStatus } from '../../../src/api/generated/types.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { settlementOf } from '../../../src/sync/health/health.ts';
import { member, OLD } from '../../controllers/componentset/rollout/rollout-input.ts';
import { reportOf, statusOf } from '../../controllers/componentset/status/set-report.ts';
import { DONE, SITUATIONS, STEADY } from '../../controllers/componentset/status/situations.ts';

const { set } = reportOf({ members: [] }).input;
const GENERATION = set.metadata.generation ?? 0;

/** The answer of sync, and its reason, when it applied that generation. */
function answerTo(status: MachineComponentSetStatus, generation = GENERATION): string {
  const observed: KubeObject = { ...set, metadata: { ...set.metadata, generation }, status };
  const { apiVersion, kind } = set;
  const found = settlementOf([{ apiVersion, kind, name: set.metadata.name, generation, observed }]);
  return 'reason' in found ? `${found.answer} ${found.reason}` : found.answer;
}

describe('settlementOf', () => {
  it.each(SITUATIONS)('ROL-61 has the promised answer: $name', ({ answer, ...parts }) => {
    expect(answerTo(statusOf(parts))).toBe(answer);
  });

  it('ROL-36 is Failed once nothing has progressed for too long', () => {
    const parts = { members: [member('a', { isSilent: true })] };
    const before = { ...statusOf(parts), progressedAt: '2029-12-31T00:00:00Z' };
    expect(answerTo(statusOf({ ...parts, before }))).toBe('Failed ProgressDeadlineExceeded');
  });

  it('ROL-05 is never Settled by the status of the generation before', () => {
    const status = statusOf({ members: [member('a', DONE)], progress: STEADY });
    expect(answerTo(status)).toBe('Settled');
    expect(answerTo(status, GENERATION + 1)).toBe('Progressing NotObservedYet');
  });

  it('ROL-34 is never Settled while a paused set has another revision', () => {
    const progress = { ...STEADY, updateRevision: OLD.name, history: [] };
    const status = statusOf({ members: [member('a')], progress, paused: true });
    expect(answerTo(status)).toBe('Progressing MachinesBehind');
  });
});
