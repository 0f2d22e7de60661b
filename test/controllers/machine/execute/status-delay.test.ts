import { describe, expect, it } from 'vitest';
import type { Machine, MachineStatus } from '../../../../src/api/generated/types.ts';
import { statusDelayMs, UPDATE_MS } from '../../../../src/controllers/machine/execute/status-delay.ts';
import { ago, condition, DESIRED, machine } from '../../../support/builders.ts';

const ENTRY = { ...DESIRED, state: 'Present', parameters: {} } as const;
const GRANT = { id: 'g-1-1', fence: 1, entryDigest: DESIRED.digest, notAfter: ago(-300) };
const PERMITTED = { components: [{ ...ENTRY, grant: GRANT }] };
const ESTABLISHED = { uid: 'node-1', establishedAt: ago(3600) };
const WAITING = {
  reason: 'NotReported',
  since: ago(0),
  message: 'UpToDate: the agent has not reported this generation',
};

interface Parts extends Partial<MachineStatus> {
  readonly ready?: 'True' | 'False';
  readonly agentReady?: 'True' | 'Unknown';
  readonly generation?: number;
}

function status({ ready = 'True', agentReady = 'True', generation = 1, ...more }: Parts = {}): MachineStatus {
  const observed = { observedGeneration: generation };
  return {
    ...observed,
    phase: ready === 'True' ? 'Ready' : 'Updating',
    conditions: [
      condition('AgentReady', agentReady, observed),
      condition('Ready', ready, observed),
      condition('Progressing', 'True', {
        ...observed,
        reason: ready === 'True' ? 'AsWanted' : 'InstallingComponents',
      }),
    ],
    node: ESTABLISHED,
    ...more,
  };
}

function live(before: MachineStatus, spec: Partial<Machine['spec']> = {}): Machine {
  const ofAgent = {
    components: [],
    conditions: [...before.conditions, condition('ComponentsReady', 'True')],
  };
  return machine('m-1', { spec: { components: [ENTRY], ...spec }, status: { ...before, ...ofAgent } });
}

const UPDATING = status({ ready: 'False', generation: 2, waiting: WAITING });

describe('statusDelayMs', () => {
  it.each<[what: string, found: Machine, next: MachineStatus, delayMs: number]>([
    ['an update that begins with a grant', live(status(), PERMITTED), UPDATING, UPDATE_MS],
    [
      'an update that ends, and still has its grant',
      live(UPDATING, PERMITTED),
      status({ generation: 2 }),
      UPDATE_MS,
    ],
    ['an update that has ended', live(UPDATING), status({ generation: 3 }), 0],
    ['a machine that is not Ready without an update', live(status()), UPDATING, 0],
    [
      'an agent that falls silent during an update',
      live(status(), PERMITTED),
      status({ ready: 'False', agentReady: 'Unknown' }),
      0,
    ],
    [
      'a drain that begins',
      live(UPDATING, PERMITTED),
      { ...UPDATING, drain: { state: 'Draining', grant: 'g-1-1', since: ago(0) } },
      0,
    ],
    [
      'a Node that was cordoned',
      live(status(), PERMITTED),
      status({ node: { ...ESTABLISHED, cordon: { since: ago(0) } } }),
      0,
    ],
    [
      'a machine that joins',
      live(status({ node: { uid: 'node-1' } }), PERMITTED),
      { ...UPDATING, node: { uid: 'node-1' } },
      0,
    ],
  ])('%s', (...[, found, next, delayMs]) => {
    expect(statusDelayMs(found, next)).toBe(delayMs);
  });

  it.each([
    ['nothing new', status()],
    ['a generation alone', status({ generation: 2 })],
  ])('spreads reports that have a generation only: %s', (_what, next) => {
    const found = live(status());
    const names = Array.from({ length: 200 }, (_, n) => `m-${n}`);
    const delays = names.map((name) =>
      statusDelayMs({ ...found, metadata: { ...found.metadata, name } }, next),
    );
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(UPDATE_MS);
    expect(Math.max(...delays)).toBeLessThan(2 * UPDATE_MS);
    const bySecond = Object.values(Object.groupBy(delays, (ms) => Math.floor(ms / 1000)));
    expect(bySecond).toHaveLength(10);
    expect(Math.max(...bySecond.map((each) => each?.length ?? 0))).toBeLessThan(40);
    expect(statusDelayMs(found, next)).toBe(statusDelayMs(found, next));
  });

  it('reports the first status of a machine at once', () => {
    const { status: _none, ...found } = live(status(), PERMITTED);
    expect(statusDelayMs(found, UPDATING)).toBe(0);
  });
});
