import { describe, expect, it } from 'vitest';
import type { MemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { Host, UnitStatus } from '../../../src/agent/host/port.ts';
import { carryOutRelease, type ReleasedHost } from '../../../src/agent/takeover/release-steps.ts';
import type { Target } from '../../../src/agent/target/target.ts';
import { createProxyHost, drive, present } from '../../support/agent/component-driver.ts';
import { target } from '../../support/agent/targets.ts';

const PROXY = target('1.0');
const DEPENDENT = 'dependent';
const STATUS: UnitStatus = {
  defined: true,
  enabled: true,
  masked: false,
  active: 'Active',
  restarts: 0,
};

type Active = UnitStatus['active'] | 'Missing';

/** A host with another component, whose unit is in one state until `proxy` is stopped, and in another one from then on. */
async function hostWith(before: Active, after: Active): Promise<{ host: Host; started: string[] }> {
  const memory = createProxyHost();
  await drive(memory, present(PROXY));
  const started: string[] = [];
  return { host: { ...memory, units: dependentUnits(memory, { before, after, started }) }, started };
}

interface Dependent {
  readonly before: Active;
  readonly after: Active;
  readonly started: string[];
}

function dependentUnits({ units }: MemoryHost, { before, after, started }: Dependent): Host['units'] {
  const own: Partial<Host['units']> = {
    async status(unit) {
      if (unit.name !== DEPENDENT) return await units.status(unit);
      const active = units.stops.has('proxy') ? after : before;
      return active === 'Missing' ? undefined : { ...STATUS, active };
    },
    async start(name) {
      started.push(name);
      if (name !== DEPENDENT) await units.start(name);
    },
  };
  return new Proxy(units, {
    get(of, name) {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(of, name, of);
      return typeof value === 'function' ? (value.bind(of) as unknown) : value;
    },
  });
}

function released(host: Host): ReleasedHost {
  const other = { ...PROXY, units: PROXY.units.map((unit) => ({ ...unit, name: DEPENDENT })) };
  return {
    host,
    record: undefined,
    cleanup: 'Restore',
    components: [installed('proxy', PROXY), installed('other', other)],
  };
}

function installed(component: string, found: Target): ReleasedHost['components'][number] {
  return { component, targets: [found], damaged: false };
}

describe('carryOutRelease', () => {
  it.each<[what: string, before: Active, after: Active, started: readonly string[]]>([
    ['stopped with it', 'Active', 'Inactive', [DEPENDENT]],
    ['failed when it was stopped with it', 'Active', 'Failed', [DEPENDENT]],
    ['runs on', 'Active', 'Active', []],
    ['is started by its supervisor', 'Active', 'Activating', []],
    ['was being started when it stopped with it', 'Activating', 'Inactive', [DEPENDENT]],
    ['did not run before', 'Inactive', 'Inactive', []],
    ['had failed before', 'Failed', 'Failed', []],
    ['was removed meanwhile', 'Active', 'Missing', []],
    ['is missing', 'Missing', 'Missing', []],
  ])(
    'MAC-20 starts only what the removal of another component stopped: a unit that %s',
    async (_what, before, after, started) => {
      const { host, started: found } = await hostWith(before, after);
      expect(await carryOutRelease(released(host), { type: 'RemoveComponent', component: 'proxy' })).toEqual(
        [],
      );
      expect(found).toEqual(started);
    },
  );
});
