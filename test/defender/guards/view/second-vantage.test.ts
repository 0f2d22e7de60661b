import { describe, expect, it } from 'vitest';
import type { PeerResult } from '../../../../src/api/enums.ts';
import type { DefenderPolicySpec } from '../../../../src/api/generated/types.ts';
import type { MachineFacts } from '../../../../src/defender/facts/facts.ts';
import { decideScene, explain, machineFacts, machines, policy, secondsAgo } from '../../builders.ts';

type Vantage = DefenderPolicySpec['selfDoubt']['secondVantage'][number];

/** A policy that asks these witnesses. */
function asking(...secondVantage: readonly Vantage[]): ReturnType<typeof policy> {
  const { selfDoubt } = policy().spec;
  return policy({ selfDoubt: { ...selfDoubt, secondVantage: [...secondVantage] } });
}

const SILENT = { readiness: 'Unknown', unknownSince: secondsAgo(600) } as const;
const subject = (facts: Partial<MachineFacts> = {}): MachineFacts =>
  machineFacts('s-1', { ...SILENT, ...facts });

/** What is decided on a repair of the silent machine, also where MassUnknown would deny it: the fleets here are small. */
function decided(
  witnesses: readonly Vantage[],
  others: readonly MachineFacts[],
  facts: Partial<MachineFacts> = {},
  ask: Parameters<typeof decideScene>[0]['ask'] = {},
): string {
  const scene = {
    policies: [asking(...witnesses)],
    machines: [subject(facts), ...others],
    ask: { machine: 's-1', nodeUID: 'uid-s-1', action: 'PowerCycle', risk: 'Node', ...ask },
  } as const;
  return explain(decideScene(scene, new Set(['mass-unknown'])));
}

const DISAGREES =
  'SecondVantageDisagrees [fleet-default]: machine s-1 is silent, and so are most machines near it: the network or the view is cut';
const missing = (witnesses: string): string =>
  `SecondVantageMissing [fleet-default]: machine s-1 is silent, and no witness confirms it: ${witnesses}`;

function rack(name: string): Partial<MachineFacts> {
  return { labels: { 'topology.kubernetes.io/rack': name } };
}

const SILENCE = {
  address: '10.0.0.1',
  port: 10_250,
  since: secondsAgo(500).toISOString(),
  peers: ['m-1', 'm-2', 'm-3'],
};

/** Machines that report, with what their agents found of the silent one. */
function probing(
  answers: readonly (PeerResult | undefined)[],
  requestedAt = secondsAgo(500),
): readonly MachineFacts[] {
  const times = { requestedAt: requestedAt.toISOString(), since: secondsAgo(490).toISOString() };
  const lastProbeTime = secondsAgo(30).toISOString();
  return machines(3).map((each, index) => {
    const result = answers[index];
    return result ? { ...each, peers: [{ machine: 's-1', result, ...times, lastProbeTime }] } : each;
  });
}

function reached(found: string, peers: string): string {
  return `SecondVantageDisagrees [fleet-default]: machine s-1 is silent, but its kubelet ${found} when probed by ${peers}: its way to the API server may be cut`;
}

describe('the second vantage point', () => {
  it.each<
    [
      what: string,
      witnesses: Vantage[],
      others: readonly MachineFacts[],
      facts: Partial<MachineFacts>,
      expected: RegExp | string,
    ]
  >([
    ['nothing where the policy names none', [], machines(3, SILENT), {}, 'granted'],
    ['a repair when its neighbors report', ['PeerAgents'], machines(3), {}, 'granted'],
    ['no repair when its neighbors are silent, too', ['PeerAgents'], machines(3, SILENT), {}, DISAGREES],
    ['no repair with one neighbor only', ['PeerAgents'], machines(1), {}, missing('PeerAgents')],
    [
      'no repair by machines that were never in service',
      ['PeerAgents'],
      machines(3, { established: false }),
      {},
      missing('PeerAgents'),
    ],
    ['a repair when the provider tells that it is off', ['Provider'], [], { power: 'Off' }, 'granted'],
    ['a repair when the provider tells that it runs: it hangs', ['Provider'], [], { power: 'On' }, 'granted'],
    ['no repair while the provider does not answer', ['Provider'], machines(3), {}, missing('Provider')],
    ['a repair with one witness of two', ['PeerAgents', 'Provider'], machines(3), {}, 'granted'],
    ['a repair with the other one of two', ['PeerAgents', 'Provider'], [], { power: 'Off' }, 'granted'],
    [
      'no repair with a witness that disagrees',
      ['Provider', 'PeerAgents'],
      machines(3, SILENT),
      { power: 'On' },
      DISAGREES,
    ],
    ['no repair with none of two', ['PeerAgents', 'Provider'], [], {}, missing('PeerAgents, Provider')],
    [
      'a repair of a machine whose agent reports',
      ['PeerAgents'],
      machines(3, SILENT),
      { agentReports: true },
      'granted',
    ],
    [
      'a repair of a machine whose kubelet reports',
      ['PeerAgents'],
      machines(3, SILENT),
      { readiness: 'NotReady' },
      'granted',
    ],
    [
      'neighbors as alive whose agents report',
      ['PeerAgents'],
      machines(3, { ...SILENT, agentReports: true }),
      {},
      'granted',
    ],
  ])('R20 permits, of a silent machine, %s', (...[, witnesses, others, facts, expected]) => {
    expect(decided(witnesses, others, facts)).toBe(expected);
  });

  it('R20 asks no witness for an act that takes no node down, and none for a rollout', () => {
    const others = machines(3, SILENT);
    expect(decided(['PeerAgents'], others, {}, { action: 'CleanDisk', risk: 'None' })).toBe('granted');
    expect(decided(['PeerAgents'], others, {}, { action: 'Drain', risk: 'Pod' })).toBe('granted');
    const holder = { kind: 'MachineComponentSet', name: 'web', revision: 'r-1' } as const;
    expect(decided(['PeerAgents'], others, {}, { holder })).toBe('granted');
  });

  it('R20 does not conclude from other racks that a rack of two machines, both silent, is not cut', () => {
    const silent = machineFacts('s-2', { ...SILENT, ...rack('r7') });
    const others = ['z-1', 'z-2', 'z-3'].map((name) => machineFacts(name, rack('r8')));
    expect(decided(['PeerAgents'], [silent, ...others], rack('r7'))).toBe(missing('PeerAgents'));
  });

  it('R20 asks the machines of a cut rack that were in service, however many are new there', () => {
    const added = Array.from({ length: 40 }, (_, n) =>
      machineFacts(`new-${n}`, { ...rack('r7'), established: false }),
    );
    const cut = ['m-2', 'k-3', 'q-9'].map((name) => machineFacts(name, { ...SILENT, ...rack('r7') }));
    const others = ['z-1', 'z-2', 'z-3'].map((name) => machineFacts(name, rack('r8')));
    expect(decided(['PeerAgents'], [...added, ...cut, ...others], rack('r7'))).toBe(DISAGREES);
  });

  it('R20 takes no neighbor without a Node as a witness', () => {
    const others = machines(3).map((each) => {
      const { nodeUID: _, ...other } = each;
      return other;
    });
    expect(decided(['PeerAgents'], others)).toBe(missing('PeerAgents'));
  });

  it('R20 ends a repair at its renewal when the neighbors fall silent, too', () => {
    const renewal = { isRenewal: true } as Parameters<typeof decided>[3];
    expect(decided(['PeerAgents'], machines(3), {}, renewal)).toBe('granted');
    expect(decided(['PeerAgents'], machines(3, SILENT), {}, renewal)).toBe(DISAGREES);
  });

  it('R20 judges by the rack before the zone', () => {
    const silentRack = machines(3, { ...SILENT, ...rack('r7') });
    const zone = ['z-1', 'z-2', 'z-3', 'z-4', 'z-5'].map((name) => machineFacts(name, rack('r8')));
    expect(decided(['PeerAgents'], [...silentRack, ...zone], rack('r7'))).toBe(DISAGREES);
    expect(decided(['PeerAgents'], [...silentRack, ...zone], rack('r8'))).toBe('granted');
  });

  it.each<[answers: readonly (PeerResult | undefined)[], expected: string]>([
    [['NoAnswer', 'NoAnswer', 'NoAnswer'], 'granted'],
    [['NoAnswer', 'Refused', undefined], 'granted'],
    [['Refused', 'Refused', 'Refused'], 'granted'],
    // No answer yet, and one peer alone, prove nothing.
    [[undefined, undefined, undefined], missing('PeerAgents')],
    [['NoAnswer', undefined, undefined], missing('PeerAgents')],
    [['NoAnswer', 'Unknown', 'Unknown'], missing('PeerAgents')],
    [['NoAnswer', 'NoAnswer', 'PortOpen'], reached('accepts connections', 'm-3')],
    [['KubeletAnswers', 'NoAnswer', 'NoAnswer'], reached('answers', 'm-1')],
    [['KubeletAnswers', 'PortOpen', 'KubeletAnswers'], reached('answers', 'm-1, m-3')],
  ])('R20 decides on a silent machine that peers probe, with their answers %j', (answers, expected) => {
    expect(decided(['PeerAgents'], probing(answers), { silence: SILENCE })).toBe(expected);
  });

  it.each<[answers: readonly (PeerResult | undefined)[], expected: string]>([
    [['NoAnswer', 'NoAnswer'], 'granted'],
    [[undefined, undefined], 'granted'],
    [['NoAnswer', 'KubeletAnswers'], reached('answers', 'm-2')],
  ])(
    'R20 decides by Leases in a fleet of three, unless one of two peers reaches the machine: %j',
    (answers, expected) => {
      const [first, second] = probing(answers);
      const others = [first, second].flatMap((each) => each ?? []);
      const silence = { ...SILENCE, peers: ['m-1', 'm-2'] };
      expect(decided(['PeerAgents'], others, { silence })).toBe(expected);
      const cut = others.map((each) => ({ ...each, ...SILENT }));
      expect(decided(['PeerAgents'], cut, { silence })).toBe(DISAGREES);
    },
  );

  it('R20 does not believe what a peer answers about an earlier silence', () => {
    const answers = probing(['KubeletAnswers', 'NoAnswer', 'NoAnswer'], secondsAgo(601));
    expect(decided(['PeerAgents'], answers, { silence: SILENCE })).toBe(missing('PeerAgents'));
  });

  it('R20 denies a repair of a machine that a peer reaches, whatever its provider tells', () => {
    const others = probing(['KubeletAnswers', 'NoAnswer', 'NoAnswer']);
    const facts = { silence: SILENCE, power: 'On' } as const;
    expect(decided(['Provider', 'PeerAgents'], others, facts)).toBe(reached('answers', 'm-1'));
    // Peers count only where the policy names them.
    expect(decided(['Provider'], others, facts)).toBe('granted');
  });

  it('R20 takes machines near it that are silent for the cause, also while peers do not reach it', () => {
    const others = probing(['NoAnswer', 'NoAnswer', 'NoAnswer']).map((each) => ({ ...each, ...SILENT }));
    expect(decided(['PeerAgents'], others, { silence: SILENCE })).toBe(DISAGREES);
  });

  it('R20 ends a repair at its renewal when a peer reaches the machine', () => {
    const renewal = { isRenewal: true } as Parameters<typeof decided>[3];
    const others = probing(['PortOpen', 'NoAnswer', 'NoAnswer']);
    expect(decided(['PeerAgents'], others, { silence: SILENCE }, renewal)).toBe(
      reached('accepts connections', 'm-1'),
    );
  });
});
