/** Thousands of agents, each with its real loop on a host in memory: what a change starts again is counted on every host. */
import { expect, it } from 'vitest';
import { createMemoryHost } from '../../../src/agent/host/memory/host.ts';
import type { ActivationClass } from '../../../src/api/enums.ts';
import type { MachineComponentSpec } from '../../../src/api/generated/types.ts';
import { classifyChange } from '../../../src/controllers/componentset/revision/change-class.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { fakeAgentApi } from '../../support/agent/fake-api.ts';
import { openTestAgent } from '../../support/agent/open-agent.ts';
import { agentFile, artifactUrl, programOf } from '../../support/agent/targets.ts';
import { LONG } from '../../support/sweep-size.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

/** The promise is about 2,000: so many take half a minute of CPU. */
const MACHINES = LONG ? 2000 : 100;

const VERSIONS = ['1.0', '1.1'];
type Artifact = MachineComponentSpec['artifacts'][number];
const [OLD, NEW] = VERSIONS.flatMap((version) => componentSpec(version).artifacts) as [Artifact, Artifact];

/** Both run out of the directory of their version. */
const UNITS = componentSpec('1.0').units.flatMap((unit) =>
  ['proxy', 'helper'].map((name) => ({ ...unit, name, reload: { signal: 'HUP' as const } })),
);

/** A file for each class. */
function filesOf(content: Readonly<Record<string, string>>): MachineComponentSpec['files'] {
  const { none = '', reload = '', restart = '' } = content;
  return [
    agentFile('/etc/none', none, { onChange: 'None' }),
    agentFile('/etc/reload', reload, { onChange: 'Reload', units: ['helper'] }),
    agentFile('/etc/restart', restart, { units: ['helper'] }),
  ];
}

const FIRST = componentSpec('1.0', { units: UNITS, files: filesOf({}), commitAfterSeconds: 0 });

type Change = readonly [
  what: string,
  change: Partial<MachineComponentSpec>,
  expected: ActivationClass,
  counts: string,
];

/** Each one on top of those before it. */
const CHANGES: readonly Change[] = [
  [
    'metadata, and a file that no process reads',
    {
      version: '1.0-2',
      description: 'text',
      keepVersions: 3,
      compat: { upgradeFrom: [] },
      artifacts: [{ ...OLD, mirrors: ['https://mirror.example.com/'] }],
      files: filesOf({ none: '2' }),
    },
    'None',
    '',
  ],
  [
    'a file that a unit reloads',
    { version: '1.0-3', files: filesOf({ none: '2', reload: '2' }) },
    'Reload',
    'helper reloads 1',
  ],
  [
    'a file that a unit restarts for',
    { version: '1.0-4', files: filesOf({ none: '2', reload: '2', restart: '2' }) },
    'Restart',
    'helper starts 1, helper stops 1',
  ],
  [
    'the program',
    { version: '1.1', artifacts: [NEW] },
    'Restart',
    'helper starts 1, helper stops 1, proxy starts 1, proxy stops 1',
  ],
];

const COUNTS = ['starts', 'stops', 'reloads'] as const;

async function openFleet() {
  const clock = virtualClock();
  const artifacts = new Map(VERSIONS.map((version) => [artifactUrl(version), programOf(version)]));
  const options = { clock, artifacts };
  const fleet = await Promise.all(
    Array.from({ length: MACHINES }, async () => {
      const [host, api] = [createMemoryHost(options), fakeAgentApi()];
      return { host, api, agent: await openTestAgent({ host, api, clock }) };
    }),
  );
  return {
    /** To its end, and once more: what is done is not repeated. */
    async declare(spec: MachineComponentSpec): Promise<void> {
      for (const { api } of fleet) api.declare([spec]);
      for (const { agent } of fleet) await agent.reconcile();
      await clock.advance(5000);
      for (const { agent } of fleet) await agent.reconcile();
    },
    /** How many machines counted what since the last call. */
    takeCounts(): Readonly<Record<string, number>> {
      const machines: Record<string, number> = {};
      for (const { host, api } of fleet) {
        const found = COUNTS.flatMap((kind) =>
          [...host.units[kind]].map(([unit, count]) => `${unit} ${kind} ${count}`),
        );
        const [report] = api.statuses.at(-1)?.components ?? [];
        const key = `${report?.state} ${report?.currentRef}: ${found.toSorted().join(', ')}`;
        machines[key] = (machines[key] ?? 0) + 1;
        for (const kind of COUNTS) host.units[kind].clear();
      }
      return machines;
    },
  };
}

it(`ROL-50 starts again only what a change needs, once on each of ${MACHINES} machines`, async () => {
  const fleet = await openFleet();
  let spec = FIRST;
  await fleet.declare(spec);
  expect(fleet.takeCounts()).toEqual({ 'Committed proxy-1.0: helper starts 1, proxy starts 1': MACHINES });
  for (const [what, change, expected, counts] of CHANGES) {
    const next = { ...spec, ...change };
    const found = classifyChange({ spec, parameters: {} }, { spec: next, parameters: {} });
    expect(`${what}: ${found.class}`).toBe(`${what}: ${expected}`);
    spec = next;
    await fleet.declare(spec);
    expect({ what, ...fleet.takeCounts() }).toEqual({
      what,
      [`Committed proxy-${spec.version}: ${counts}`]: MACHINES,
    });
  }
});
