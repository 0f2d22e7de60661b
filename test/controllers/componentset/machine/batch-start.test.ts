import { describe, expect, it } from 'vitest';
import type { Machine, MachineComponentReport } from '../../../../src/api/generated/types.ts';
import {
  batchStart,
  committedAt,
  isOfBatch,
  type OpenBatchStart,
} from '../../../../src/controllers/componentset/machine/batch-start.ts';
import { ago, machine } from '../../../support/builders.ts';
import { NEW } from '../rollout/rollout-input.ts';

const OPEN: OpenBatchStart = { revision: NEW.name, index: 1, startedAt: new Date(ago(600)) };
const BACK: OpenBatchStart = { ...OPEN, supersededFrom: new Date(ago(1800)) };

interface Parts {
  readonly batch?: number;
  readonly state?: MachineComponentReport['state'];
  /** Seconds since it is in that state. Undefined: its agent does not report it. */
  readonly ago?: number;
}

function updated({ batch = 1, state = 'Committed', ago: seconds }: Parts): Machine {
  const [content] = NEW.components;
  const assignment = { set: 'general', revision: NEW.name, batch };
  const components = content ? [{ ...content, assignment }] : [];
  const since = seconds === undefined ? {} : { since: ago(seconds) };
  const report = { name: 'app', desiredRef: 'app-2', state, ...since } as const;
  return machine('m-1', { spec: { components }, status: { components: [report] } });
}

/** Seconds ago. */
function startOf(parts: Parts, open: OpenBatchStart | undefined): number | undefined {
  const each = updated(parts);
  const start = batchStart(each, each.spec.components, open);
  return start && (Date.parse(ago(0)) - +start) / 1000;
}

describe('batchStart', () => {
  it.each<[what: string, parts: Parts, open: OpenBatchStart | undefined, expected: number | undefined]>([
    ['no batch is open', { ago: 300 }, undefined, undefined],
    ['another batch is open', { ago: 300, batch: 0 }, OPEN, undefined],
    ['it was updated in the batch', { ago: 300 }, OPEN, 600],
    ['its content did not change in the batch', { ago: 900 }, OPEN, 600],
    ['the revision came back, and it was updated since', { ago: 300 }, BACK, 600],
    ['the revision came back, and it had it before', { ago: 900 }, BACK, 900],
    ['the revision came back, and its content is older', { ago: 3600 }, BACK, 1800],
    ['the revision came back, and its agent reports no time', {}, BACK, 600],
    ['the revision came back, and it is in work', { ago: 900, state: 'Probation' }, BACK, 600],
  ])('ROL-21 is when the update of a machine began: %s', (_what, parts, open, expected) => {
    expect(startOf(parts, open)).toBe(expected);
  });
});

describe('isOfBatch', () => {
  it('ROL-05 takes no batch of another revision for the open one', () => {
    expect(isOfBatch({ set: 'general', revision: NEW.name, batch: 1 }, OPEN)).toBe(true);
    expect(isOfBatch({ set: 'general', revision: NEW.name, batch: 0 }, OPEN)).toBe(false);
    expect(isOfBatch({ set: 'general', revision: 'r-x', batch: 1 }, OPEN)).toBe(false);
    expect(isOfBatch(undefined, OPEN)).toBe(false);
  });
});

describe('committedAt', () => {
  it('is known only while every entry is in force', () => {
    const committed = updated({ ago: 30 });
    expect(committedAt(committed, committed.spec.components)).toEqual(new Date(ago(30)));
    const open = updated({ ago: 30, state: 'Activating' });
    expect(committedAt(open, open.spec.components)).toBeUndefined();
  });
});
