import { describe, expect, it } from 'vitest';
import type { Machine, MachineComponent } from '../../../../../../src/api/generated/types.ts';
import { planCover } from '../../../../../../src/controllers/following/clusterapi/extension/cover.ts';
import type { AskedObject } from '../../../../../../src/controllers/following/clusterapi/extension/protocol.ts';
import { agentFile } from '../../../../../support/agent/targets.ts';
import { facts } from '../facts.ts';
import {
  askedFor,
  COMPONENTS,
  componentOf,
  configOf,
  FILE,
  FROM,
  fileMachine,
  KUBELETS,
  OTHER_FILE,
  RUNTIMES,
  rulesOf,
  runtime,
  TO,
  yanked,
} from './bed.ts';

const CURRENT = configOf('a = 1');
const DESIRED = configOf('a = 2');

interface Case {
  readonly components?: readonly MachineComponent[];
  readonly machines?: readonly Machine[];
  readonly current?: AskedObject;
  readonly desired?: AskedObject;
}

function decide({ components, machines, current, desired }: Case = {}): string {
  const { type, because } = planCover(
    { current: current ?? askedFor(CURRENT), desired: desired ?? askedFor(DESIRED) },
    facts(machines ?? [fileMachine(1, { config: CURRENT })], { rules: rulesOf(components) }),
  );
  return `${type} ${because}`;
}

const COVERED = `Covered components cover ${FILE} on each machine`;
const OTHER = `runtime-1 has another ${FILE} than the KubeadmConfig, and no other version of runtime has it without a further change`;

describe('planCover of files', () => {
  it('CAP-17 names the entry alone that a version of a component writes', () => {
    const decision = planCover(
      { current: askedFor(CURRENT), desired: askedFor(DESIRED) },
      facts([fileMachine(1, { config: CURRENT })], { rules: rulesOf() }),
    );
    expect(decision).toMatchObject({
      type: 'Covered',
      version: undefined,
      files: [{ op: 'replace', path: '/spec/files/0', value: { path: FILE, content: 'a = 2' } }],
    });
  });

  it.each<[name: string, parts: Case, expected: string]>([
    ['covers the file of another version', {}, COVERED],
    [
      'covers a file that each machine has already',
      { machines: [fileMachine(1, { config: CURRENT, components: [RUNTIMES[1], ...KUBELETS.slice(0, 1)] })] },
      COVERED,
    ],
    [
      'covers a new file that a version writes, and the present one does not',
      {
        components: [
          ...COMPONENTS,
          runtime('3', 'a = 1\n', { files: [agentFile(FILE, 'a = 1\n'), agentFile(OTHER_FILE, 'x\n')] }),
        ],
        desired: askedFor(configOf('a = 1', [{ path: OTHER_FILE, content: 'x' }])),
      },
      `Covered components cover ${OTHER_FILE} on each machine`,
    ],
    [
      'covers a version and a file together',
      { desired: askedFor(DESIRED, TO) },
      `Covered components cover version ${TO}, ${FILE} on each machine`,
    ],
    [
      'takes the order of files for no change of a host',
      {
        current: askedFor({
          files: [
            { path: '/a', content: '1' },
            { path: '/b', content: '2' },
          ],
        }),
        desired: askedFor({
          files: [
            { path: '/b', content: '2' },
            { path: '/a', content: '1' },
          ],
        }),
        machines: [
          fileMachine(1, {
            config: {
              files: [
                { path: '/a', content: '1' },
                { path: '/b', content: '2' },
              ],
            },
          }),
        ],
      },
      'Covered components cover the order of files on each machine',
    ],
    ['covers no content that no version has', { desired: askedFor(configOf('a = 3')) }, `Uncovered ${OTHER}`],
    [
      'covers no version that changes another file',
      {
        components: [
          RUNTIMES[0],
          runtime('2', 'a = 2\n', { files: [agentFile(FILE, 'a = 2\n'), agentFile(OTHER_FILE, 'x\n')] }),
          ...KUBELETS,
        ],
      },
      `Uncovered ${OTHER}`,
    ],
    [
      'covers no version that changes a unit',
      { components: [RUNTIMES[0], runtime('2', 'a = 2\n', { units: [] }), ...KUBELETS] },
      `Uncovered ${OTHER}`,
    ],
    [
      'covers no version that is yanked',
      { components: [RUNTIMES[0], yanked(RUNTIMES[1]), ...KUBELETS] },
      'Uncovered runtime-2 is yanked: broken',
    ],
    [
      'covers no file without a component',
      { desired: askedFor(configOf('a = 1', [{ path: '/etc/motd', content: 'hello' }])) },
      'Uncovered no component of node-1 has file /etc/motd',
    ],
    [
      'covers no file of two components',
      {
        machines: [
          fileMachine(1, {
            config: CURRENT,
            components: [RUNTIMES[0], componentOf('files', '1', { files: [agentFile(FILE, 'a = 1\n')] })],
          }),
        ],
        components: [...COMPONENTS, componentOf('files', '1', { files: [agentFile(FILE, 'a = 1\n')] })],
      },
      `Uncovered file ${FILE} of node-1 is that of files and runtime`,
    ],
    [
      'covers no file that was removed',
      { desired: askedFor({ files: [] }) },
      `Uncovered file ${FILE} was removed from the KubeadmConfig, and a component would restore what it has replaced`,
    ],
    [
      'covers no other field beside a file',
      {
        current: askedFor(CURRENT, FROM, { others: { 'spec of the KubeadmConfig': {} } }),
        desired: askedFor(DESIRED, FROM, { others: { 'spec of the KubeadmConfig': { verbosity: 2 } } }),
      },
      'Uncovered no component covers spec of the KubeadmConfig',
    ],
    [
      'covers no file of a machine whose state before is not known',
      { machines: [fileMachine(1)] },
      'Uncovered node-1 has no annotation kubenode.dev/bootstrap with the files of its KubeadmConfig',
    ],
    [
      'leaves a pin of a person alone',
      { machines: [fileMachine(1, { config: CURRENT, owner: 'kubectl' })] },
      'Uncovered runtime of node-1 is pinned by another owner: remove the pin to have it follow Cluster API',
    ],
    [
      'covers nothing of a machine that is behind with another file',
      { machines: [fileMachine(1, { config: configOf('a = 1', [{ path: '/etc/motd', content: 'x' }]) })] },
      'Uncovered file /etc/motd was removed from the KubeadmConfig, and a component would restore what it has replaced',
    ],
  ])('CAP-17 answers for a change of files: %s', (_, parts, expected) => {
    expect(decide(parts)).toBe(expected);
  });

  it('CAP-17 lets a component differ from the config on purpose while only the version changes', () => {
    const ahead = fileMachine(1, { config: CURRENT, components: [RUNTIMES[1], ...KUBELETS.slice(0, 1)] });
    expect(decide({ machines: [ahead], desired: askedFor(CURRENT, TO) })).toBe(
      `Covered a component covers version ${TO} on each machine`,
    );
  });

  it('CAP-17 takes the file of the version of Kubernetes, whatever else that version changes', () => {
    const kubelets = [
      componentOf('kubelet', '1.34.1', { files: [agentFile(FILE, 'a = 1\n')] }),
      componentOf('kubelet', '1.34.2', { files: [agentFile(FILE, 'a = 2\n')], units: [] }),
    ];
    const machines = [fileMachine(1, { config: CURRENT, components: kubelets.slice(0, 1) })];
    const parts = { components: kubelets, machines };
    expect(decide({ ...parts, desired: askedFor(DESIRED, TO) })).toMatch(/^Covered/);
    expect(decide({ ...parts, desired: askedFor(configOf('a = 3'), TO) })).toBe(
      `Uncovered kubelet-1.34.2 has another ${FILE} than the KubeadmConfig`,
    );
    expect(decide(parts)).toMatch(/^Uncovered kubelet-1.34.1 has another/);
  });
});
