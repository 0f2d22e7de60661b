import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Amount, DefenderPolicy, DefenderPolicySpec } from '../../../src/api/generated/types.ts';
import { type DeclaredPolicySpec, looserNumbers, SETTINGS } from '../../../src/defender/policies/looser.ts';
import { withPolicyDefaults } from '../../../src/defender/policy-tests/schema.ts';
import { valueAt } from '../../../src/kube/objects/json.ts';
import { decideScene, EVERY_STATE, entry, explain, machineFacts, policy } from '../builders.ts';

const ALL = { nodeSelector: { all: true } };
const SOME = { nodeSelector: { matchLabels: { gpu: 'true' } } };
const REBOOTS = {
  name: 'reboots',
  per: 'Cluster',
  actions: ['Reboot'],
  max: 20,
  windowSeconds: 3600,
  burst: 5,
};

const FLEET_DEFAULT = spec(ALL, {
  grantSeconds: 120,
  perMachine: { maxGrants: 2, maxReboots: 4 },
  concurrency: [
    { name: 'cluster', per: 'Cluster', risks: ['Node', 'Machine'], max: '5%' },
    { name: 'zone', per: 'Zone', max: 1 },
    { name: 'pool', per: 'Pool', risks: ['Machine'], max: 2 },
    { name: 'rack', per: 'Label', labelKey: 'rack', max: 2 },
  ],
  rates: [REBOOTS],
});

function spec(scope: object, fields: object): DeclaredPolicySpec {
  return { scope, ...fields };
}

function found(fields: object, scope: object = ALL, fleetDefault = FLEET_DEFAULT): readonly string[] {
  return looserNumbers(spec(scope, fields), fleetDefault).map(({ path, message }) => `${path}: ${message}`);
}

function limit(fields: object): object {
  return { concurrency: [{ name: 'mine', ...fields }] };
}

function rate(fields: object): object {
  return { rates: [{ ...REBOOTS, name: 'mine', ...fields }] };
}

const END = 'so it could never deny: tighten it, or remove it';

describe('a policy that is looser than fleet-default', () => {
  it.each<[path: string, fields: object, than: string, scope?: object]>([
    ['spec.concurrency[0].max', limit({ per: 'Zone', max: 2 }), '1 of fleet-default, limit zone', SOME],
    [
      'spec.concurrency[0].max',
      limit({ per: 'Cluster', risks: ['Node'], max: '6%' }),
      '5% of fleet-default, limit cluster',
    ],
    [
      'spec.concurrency[0].max',
      limit({ per: 'Label', labelKey: 'rack', max: 3 }),
      '2 of fleet-default, limit rack',
      SOME,
    ],
    [
      'spec.concurrency[0].max',
      limit({ per: 'Pool', risks: ['Machine'], max: 3 }),
      '2 of fleet-default, limit pool',
    ],
    [
      'spec.concurrency[0].max',
      limit({ per: 'Cluster', max: '20%' }),
      '5% of fleet-default, limit cluster',
      { ...ALL, risks: ['Machine'] },
    ],
    ['spec.rates[0].max', rate({ max: 21 }), '20 of fleet-default, limit reboots', SOME],
    ['spec.rates[0].burst', rate({ burst: 6 }), '5 of fleet-default, limit reboots'],
    ['spec.rates[0].burst', rate({ burst: undefined }), '5 of fleet-default, limit reboots'],
    ['spec.grantSeconds', { grantSeconds: 200 }, '120 of fleet-default', SOME],
    ['spec.perMachine.maxGrants', { perMachine: { maxGrants: 3 } }, '2 of fleet-default', SOME],
    [
      'spec.perMachine.windowSeconds',
      { perMachine: { maxReboots: 4, windowSeconds: 600 } },
      '86400 of fleet-default',
    ],
    ['spec.blockers.minNodeAgeSeconds', { blockers: { minNodeAgeSeconds: 60 } }, '900 of fleet-default'],
    [
      'spec.controlPlane.readyAPIServersAfter',
      { controlPlane: { readyAPIServersAfter: 1 } },
      '2 of fleet-default',
    ],
  ])('R15 is refused where it could never deny: %s, %j', (path, fields, than, scope) => {
    expect(found(fields, scope)).toContain(`${path}: looser than ${than}, ${END}`);
  });

  it.each<[name: string, fields: object, scope?: object]>([
    ['the same numbers', { ...FLEET_DEFAULT }],
    ['tighter ones', { ...limit({ per: 'Zone', max: 0 }), ...rate({ max: 3, burst: 1 }), grantSeconds: 60 }],
    [
      'defaults, though fleet-default is tighter',
      { grantSeconds: 300, perMachine: { maxGrants: 5, windowSeconds: 86_400 } },
    ],
    [
      'a looser number that a tighter one makes up for',
      { perMachine: { maxGrants: 3, windowSeconds: 172_800 } },
    ],
    ['a percentage of other nodes', limit({ per: 'Cluster', risks: ['Node'], max: '50%' }), SOME],
    ['a number beside a percentage', limit({ per: 'Cluster', risks: ['Node'], max: 500 })],
    ['acts that fleet-default does not limit', limit({ per: 'Cluster', risks: ['Pod', 'Node'], max: '20%' })],
    ['another scope', limit({ per: 'Holder', max: 10 })],
    ['another label', limit({ per: 'Label', labelKey: 'clique', max: 10 })],
    ['small pools, whose rule is tighter', limit({ per: 'Pool', risks: ['Machine'], max: 3 }), SOME],
    [
      'a rule for small pools that is tighter',
      { ...limit({ per: 'Pool', risks: ['Machine'], max: 3 }), counting: { smallPool: { below: 6 } } },
    ],
    [
      'other states that are counted',
      { ...limit({ per: 'Zone', max: 2 }), counting: { include: ['Cordoned'] } },
    ],
    ['a longer count', { ...limit({ per: 'Zone', max: 2 }), counting: { lingerSeconds: 901 } }],
    ['another period', rate({ max: 30, windowSeconds: 7200 })],
    ['a tighter burst', rate({ max: 30, burst: 4 })],
    ['other acts', rate({ max: 30, actions: ['Reboot', 'Drain'] })],
  ])('is accepted: %s', (_, fields, scope) => {
    expect(found(fields, scope)).toEqual([]);
  });

  it('is refused for small pools, too, where their rule tightens nothing', () => {
    const fields = {
      ...limit({ per: 'Pool', risks: ['Machine'], max: 3 }),
      counting: { smallPool: { max: 2 } },
    };
    expect(found(fields, SOME)).toHaveLength(1);
  });

  it('R15 compares with the defaults of the API server', () => {
    const usual = withPolicyDefaults({ scope: ALL });
    for (const setting of SETTINGS.flat()) {
      expect([setting.path, valueAt(usual, ...setting.path)]).toEqual([setting.path, setting.default]);
    }
    const { counting, ...defaults } = usual;
    expect(found(limit({ per: 'Zone', max: 2 }), ALL, { ...FLEET_DEFAULT, counting })).toHaveLength(1);
    expect(found({ ...limit({ per: 'Zone', max: 2 }), counting })).toHaveLength(1);
    expect(found(defaults)).toEqual([]);
  });

  it('is accepted when it counts what fleet-default does not', () => {
    const less = spec(ALL, { ...FLEET_DEFAULT, counting: { include: ['Cordoned'] } });
    expect(found(limit({ per: 'Zone', max: 2 }), ALL, less)).toEqual([]);
  });

  it('R15 never denies what fleet-default permits, whatever the fleet and its acts are', () => {
    let refused = 0;
    const check = fc.property(anyScene, ({ per, theirs, mine, isForAll, smallMax, all }) => {
      const fleetDefault = policy({
        concurrency: [{ name: 'd', per, actions: [], max: theirs }],
        counting: countingWith(1),
      });
      const nodeSelector = isForAll ? { all: true } : { all: false, matchLabels: { gpu: 'true' } };
      const scope = { nodeSelector, actions: [], risks: [], holders: [] };
      const concurrency = [{ name: 'm', per, actions: [], max: mine }];
      const other = policy({ scope, concurrency, counting: countingWith(smallMax) }, 'other');
      if (looserNumbers(other.spec, fleetDefault.spec).length === 0) return;
      refused += 1;
      const busy = all
        .filter(({ isBusy }) => isBusy)
        .map(({ facts }) => [facts.name, entry(facts.name)] as const);
      const scene = { machines: all.map(({ facts }) => facts), ledger: { grants: Object.fromEntries(busy) } };
      // The last machine of a pool is counted among the nodes of each policy, whatever its limits are.
      const isLimited = (...policies: DefenderPolicy[]): boolean =>
        /^(?:Concurrency|SmallPool)/m.test(explain(decideScene({ ...scene, policies })));
      expect(isLimited(fleetDefault, other)).toBe(isLimited(fleetDefault));
    });
    fc.assert(check, { numRuns: 500 });
    expect(refused).toBeGreaterThan(50);
  });
});

function countingWith(max: number): DefenderPolicySpec['counting'] {
  return { include: [...EVERY_STATE], lingerSeconds: 900, smallPool: { below: 5, max } };
}

const amount = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constantFrom<Amount>('5%', '20%', '40%', '60%'));

const anyMachine = fc.record({
  zone: fc.constantFrom('a', 'b'),
  pool: fc.constantFrom('web', 'db'),
  gpu: fc.constantFrom('true', 'false'),
  readiness: fc.constantFrom('Ready', 'Ready', 'NotReady'),
  cordoned: fc.boolean(),
  isBusy: fc.boolean(),
});

const anyScene = fc.record({
  per: fc.constantFrom('Cluster', 'Zone', 'Pool'),
  theirs: amount,
  mine: amount,
  isForAll: fc.boolean(),
  smallMax: fc.integer({ min: 0, max: 3 }),
  all: fc.array(anyMachine, { minLength: 1, maxLength: 12 }).map((each) =>
    each.map(({ gpu, isBusy, ...facts }, index) => ({
      facts: machineFacts(`m-${index + 1}`, { ...facts, labels: { gpu } }),
      isBusy: isBusy && index > 0,
    })),
  ),
});
