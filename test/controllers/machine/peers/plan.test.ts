import { describe, expect, it } from 'vitest';
import type { Machine, MachineSilence } from '../../../../src/api/generated/types.ts';
import {
  peersAgainAt,
  planProbeRequests,
  planSilence,
  type SilenceInput,
} from '../../../../src/controllers/machine/peers/plan.ts';
import { kubeletTarget } from '../../../../src/controllers/machine/peers/target.ts';
import { ago, condition, machine, NOW } from '../../../support/builders.ts';

const SILENT = { ageMs: 45_001, hasChanged: true, unreportedMs: 0 };
const infra = { addresses: [{ type: 'InternalIP', address: '10.0.0.7' }] };

function peer(name: string, zone: string, agent: 'True' | 'Unknown' = 'True'): Machine {
  const conditions = [condition('AgentReady', agent)];
  return machine(name, { spec: { zone }, status: { conditions, node: { establishedAt: ago(3600) } } });
}

/** A fleet of three zones with as many machines each. */
function fleetOf(perZone: number, agent: 'True' | 'Unknown' = 'True'): readonly Machine[] {
  return ['a', 'b', 'c'].flatMap((zone) =>
    Array.from({ length: perZone }, (_, index) => peer(`${zone}-${index}`, zone, agent)),
  );
}

function subject(silence?: MachineSilence, metadata: Machine['metadata'] | object = {}): Machine {
  return machine('s-1', {
    metadata,
    spec: { zone: 'a' },
    status: { infra, ...(silence ? { silence } : {}) },
  });
}

type Parts = Partial<SilenceInput> & { readonly machines?: readonly Machine[] };

function inputOf(parts: Parts = {}): SilenceInput {
  const { machines = fleetOf(10), ...more } = parts;
  const own = more.machine ?? subject();
  const all = new Map([own, ...machines].map((each) => [each.metadata.name, each]));
  return {
    machine: own,
    node: undefined,
    target: () => kubeletTarget(own, undefined),
    heartbeat: SILENT,
    find: (name) => all.get(name),
    nodeOf: () => undefined,
    fleet: () => [...all.values()],
    now: NOW,
    ...more,
  };
}

const planned = (parts: Parts = {}): MachineSilence | undefined => planSilence(inputOf(parts));

const CHOSEN = planned();
const EARLIER: MachineSilence = {
  address: '10.0.0.7',
  port: 10_250,
  since: ago(300),
  peers: [...(CHOSEN?.peers ?? [])],
};

describe('planSilence', () => {
  it('R20 has a silent machine probed by three peers of its zone and three of others', () => {
    expect(CHOSEN).toMatchObject({ address: '10.0.0.7', port: 10_250, since: NOW.toISOString() });
    const zones = CHOSEN?.peers.map((name) => name[0] === 'a');
    expect([zones?.length, zones?.filter(Boolean).length]).toEqual([6, 3]);
    expect(CHOSEN?.peers).not.toContain('s-1');
  });

  it('R20 chooses the same peers in whatever order machines are listed', () => {
    expect(planned({ machines: fleetOf(10).toReversed() })).toEqual(CHOSEN);
  });

  it.each<[what: string, parts: Parts]>([
    ['whose agent reports', { heartbeat: { ...SILENT, ageMs: 45_000 } }],
    ['whose agent was never heard of', { heartbeat: undefined }],
    [
      'whose silence is not reported yet, because many are silent',
      { heartbeat: { ...SILENT, unreportedMs: 1 } },
    ],
    ['that is deleted', { machine: subject(undefined, { deletionTimestamp: ago(1) }) }],
    ['whose address is not known', { machine: machine('s-1') }],
    ['without a peer that reports', { machines: fleetOf(10, 'Unknown') }],
    ['that is alone', { machines: [] }],
    ['that is heard again', { machine: subject(EARLIER), heartbeat: { ...SILENT, ageMs: 10 } }],
  ])('R20 has no machine probed %s', (_, parts) => {
    expect(planned(parts)).toBeUndefined();
  });

  it('R20 keeps what was asked for after a restart of the controller, which knows of no silence yet', () => {
    const heartbeat = { ageMs: 10, hasChanged: false, unreportedMs: 0 };
    expect(planned({ machine: subject(EARLIER), heartbeat })).toEqual(EARLIER);
    expect(planned({ heartbeat })).toBeUndefined();
  });

  it('R20 takes no machine for a peer that was never in service, that is deleted or that is silent itself', () => {
    const never = machine('n-1', { status: { conditions: [condition('AgentReady', 'True')] } });
    const deleted = peer('d-1', 'a');
    const all = [
      never,
      { ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: ago(1) } },
      peer('x-1', 'a', 'Unknown'),
      peer('p-1', 'a'),
    ];
    expect(planned({ machines: all })?.peers).toEqual(['p-1']);
  });

  it('R20 keeps its peers while they report, and chooses others when one of them does not', () => {
    expect(planned({ machine: subject(EARLIER), machines: [...fleetOf(10), ...fleetOf(40)] })).toBe(
      planned({ machine: subject(EARLIER) }) && EARLIER,
    );
    const [gone = ''] = EARLIER.peers;
    const others = fleetOf(10).filter(({ metadata }) => metadata.name !== gone);
    const next = planned({ machine: subject(EARLIER), machines: others });
    expect(next?.peers).not.toContain(gone);
    expect([next?.peers.length, next?.since]).toEqual([6, EARLIER.since]);
  });

  it('R20 takes more peers as soon as there are', () => {
    const few = { ...EARLIER, peers: ['a-0', 'b-0'] };
    expect(planned({ machine: subject(few), machines: [peer('a-0', 'a'), peer('b-0', 'b')] })).toEqual(few);
    expect(planned({ machine: subject(few) })).toEqual({ ...CHOSEN, since: EARLIER.since });
  });

  it('R20 asks again when the machine has another address or port: earlier answers are about another host', () => {
    expect(planned({ machine: subject({ ...EARLIER, address: '10.0.0.6' }) })?.since).toBe(NOW.toISOString());
    expect(planned({ machine: subject({ ...EARLIER, port: 10_260 }) })?.since).toBe(NOW.toISOString());
  });
});

describe('peersAgainAt', () => {
  it.each<[what: string, parts: Parts, seconds: number | undefined]>([
    ['that is probed', { machine: subject(EARLIER) }, 300],
    ['without a peer, which may report later', { machines: fleetOf(10, 'Unknown') }, 300],
    ['whose agent reports', { heartbeat: { ...SILENT, ageMs: 45_000 } }, undefined],
    ['whose address is not known', { machine: machine('s-1') }, undefined],
  ])('R20 looks at the peers again of a machine %s', (_, parts, seconds) => {
    const at = peersAgainAt(inputOf(parts));
    expect(at && (at.getTime() - NOW.getTime()) / 1000).toBe(seconds);
  });
});

const silent = (name: string, since: string): Machine =>
  machine(name, { status: { silence: { ...EARLIER, since } } });

describe('planProbeRequests', () => {
  it('R20 names address and time of each silent machine, the longest silent first', () => {
    const found = planProbeRequests([silent('s-2', ago(10)), silent('s-3', ago(20)), silent('s-1', ago(10))]);
    expect(found?.map(({ machine: name }) => name)).toEqual(['s-3', 's-1', 's-2']);
    expect(found?.[0]).toEqual({ machine: 's-3', address: '10.0.0.7', port: 10_250, since: ago(20) });
  });

  it('R20 asks an agent for eight machines at most, and for none while none is silent', () => {
    const many = Array.from({ length: 100 }, (_, index) => silent(`s-${100 + index}`, ago(10)));
    expect(planProbeRequests(many)).toHaveLength(8);
    expect(planProbeRequests([])).toBeUndefined();
    expect(planProbeRequests([machine('m-1')])).toBeUndefined();
  });

  it('R20 spreads the probes of a tenth of the fleet, so that no request is left out', () => {
    const all = Array.from({ length: 2000 }, (_, index) =>
      peer(`m-${index}`, ['a', 'b', 'c'][index % 3] ?? 'a'),
    );
    const loads = new Map<string, number>();
    for (let index = 0; index < 200; index += 1) {
      const own = machine(`s-${index}`, { spec: { zone: 'a' }, status: { infra } });
      const { peers = [] } =
        planSilence({
          machine: own,
          node: undefined,
          target: () => kubeletTarget(own, undefined),
          heartbeat: SILENT,
          find: () => undefined,
          nodeOf: () => undefined,
          fleet: () => all,
          now: NOW,
        }) ?? {};
      expect(peers).toHaveLength(6);
      for (const name of peers) loads.set(name, (loads.get(name) ?? 0) + 1);
    }
    expect(Math.max(...loads.values())).toBeLessThanOrEqual(8);
  });
});
