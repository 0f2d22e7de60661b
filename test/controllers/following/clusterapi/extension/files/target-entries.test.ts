import { describe, expect, it } from 'vitest';
import type { Machine, MachineComponent } from '../../../../../../src/api/generated/types.ts';
import { bootstrapFiles } from '../../../../../../src/controllers/following/clusterapi/extension/files/kubeadm-files.ts';
import {
  hasOtherFiles,
  targetEntries,
} from '../../../../../../src/controllers/following/clusterapi/extension/files/target-entries.ts';
import { agentFile } from '../../../../../support/agent/targets.ts';
import {
  COMPONENTS,
  componentOf,
  configOf,
  FILE,
  fileMachine,
  KUBELETS,
  OTHER_FILE,
  RUNTIMES,
  rulesOf,
  runtime,
  TO,
  yanked,
} from './bed.ts';

const [KUBELET] = KUBELETS as [MachineComponent];
const OTHERS = ['1', '2'].map((version) =>
  componentOf('zone', version, { files: [agentFile(OTHER_FILE, `b = ${version}\n`)] }),
) as [MachineComponent, MachineComponent];
/** The second file of a config. */
const OTHER = { path: OTHER_FILE, content: 'b = 2' };

interface Case {
  readonly version?: string;
  readonly paths?: readonly string[];
  readonly config?: object;
  readonly components?: readonly MachineComponent[];
  /** What the machine has. */
  readonly present?: readonly MachineComponent[];
  readonly change?: (machine: Machine) => Machine;
}

function find(parts: Case): string {
  const { version, paths = [FILE], config = configOf('a = 2'), components = COMPONENTS } = parts;
  const { present, change = (machine: Machine): Machine => machine } = parts;
  const machine = change(fileMachine(1, present ? { components: present } : {}));
  const found = targetEntries(machine, { version, paths }, bootstrapFiles(config), rulesOf(components));
  return typeof found === 'string' ? found : found.map(({ componentRef }) => componentRef).join(' ');
}

function withParameter(level: string): (machine: Machine) => Machine {
  return (machine) => {
    const components = machine.spec.components.map((entry) =>
      entry.name === 'runtime' ? { ...entry, parameters: { level } } : entry,
    );
    return { ...machine, spec: { ...machine.spec, components } };
  };
}

function withParameters(version: string, usual: string, prefix = 'a'): MachineComponent {
  const parameters = [{ name: 'level', description: '', default: usual }];
  return runtime(version, `${prefix} = \${param.level}\n`, { parameters });
}

describe('targetEntries', () => {
  it.each<[name: string, parts: Case, expected: string]>([
    ['nothing for an order of nothing', { paths: [] }, ''],
    ['the kubelet of a version', { version: TO, paths: [] }, 'kubelet-1.34.2'],
    ['the version that writes a file', {}, 'runtime-2'],
    ['the present version, if it writes the file already', { config: configOf('a = 1') }, 'runtime-1'],
    [
      'the newest of those that write it, by number and not by text',
      { components: [runtime('1', 'a = 1\n'), runtime('9', 'a = 2\n'), runtime('10', 'a = 2\n'), KUBELET] },
      'runtime-10',
    ],
    [
      'an older one, if the newest is yanked',
      { components: [...COMPONENTS, yanked(runtime('3', 'a = 2\n'))] },
      'runtime-2',
    ],
    [
      'why the only one is not used',
      { components: [RUNTIMES[0], yanked(RUNTIMES[1]), KUBELET] },
      'runtime-2 is yanked: broken',
    ],
    [
      'the kubelet last, whatever the names are',
      {
        version: TO,
        paths: [FILE, OTHER_FILE],
        config: configOf('a = 2', [OTHER]),
        components: [...COMPONENTS, ...OTHERS],
        present: [KUBELET, OTHERS[0], RUNTIMES[0]],
      },
      'runtime-2 zone-2 kubelet-1.34.2',
    ],
    [
      'one entry for two files of a component',
      {
        paths: [FILE, OTHER_FILE],
        config: configOf('a = 2', [OTHER]),
        components: ['1', '2'].map((version) =>
          componentOf('runtime', version, {
            files: [agentFile(FILE, `a = ${version}\n`), agentFile(OTHER_FILE, `b = ${version}\n`)],
          }),
        ),
      },
      'runtime-2',
    ],
    [
      'no version that writes one of two files only',
      {
        paths: [FILE, OTHER_FILE],
        config: configOf('a = 2', [OTHER]),
        components: ['1', '2'].map((version) =>
          componentOf('runtime', version, {
            files: [agentFile(FILE, `a = ${version}\n`), agentFile(OTHER_FILE, 'b = 1\n')],
          }),
        ),
      },
      `runtime-1 has another ${FILE} than the KubeadmConfig, and no other version of runtime has it without a further change`,
    ],
    [
      'a version whose parameter has the content',
      {
        components: [withParameters('1', '1'), withParameters('2', '1', 'b'), KUBELET],
        config: configOf('b = 7'),
        present: [withParameters('1', '1'), KUBELET],
        change: withParameter('7'),
      },
      'runtime-2',
    ],
    [
      'no version whose content has another default instead',
      {
        components: [withParameters('1', '1'), withParameters('2', '2'), KUBELET],
        present: [withParameters('1', '1'), KUBELET],
        change: withParameter('1'),
      },
      `runtime-1 has another ${FILE} than the KubeadmConfig, and no other version of runtime has it without a further change`,
    ],
    [
      'the component of which a version writes a new path',
      {
        paths: [OTHER_FILE],
        config: configOf('a = 1', [OTHER]),
        components: [
          RUNTIMES[0],
          runtime('2', 'a = 1\n', { files: [agentFile(FILE, 'a = 1\n'), agentFile(OTHER_FILE, 'b = 2\n')] }),
          KUBELET,
        ],
      },
      'runtime-2',
    ],
    [
      'no component for a path of none',
      { paths: ['/etc/motd'], config: { files: [{ path: '/etc/motd', content: 'x' }] } },
      'no component of node-1 has file /etc/motd',
    ],
    [
      'no file of a component that is to be removed',
      {
        change: (machine) => ({
          ...machine,
          spec: {
            ...machine.spec,
            components: machine.spec.components.map((entry) => ({ ...entry, state: 'Absent' as const })),
          },
        }),
      },
      `no component of node-1 has file ${FILE}`,
    ],
    [
      'no file of two components, which would write it in turn',
      {
        present: [RUNTIMES[0], componentOf('files', '1', { files: [agentFile(FILE, 'a = 1\n')] }), KUBELET],
        components: [...COMPONENTS, componentOf('files', '1', { files: [agentFile(FILE, 'a = 1\n')] })],
      },
      `file ${FILE} of node-1 is that of files and runtime`,
    ],
    [
      'no file that was removed',
      { config: { files: [] } },
      `file ${FILE} was removed from the KubeadmConfig, and a component would restore what it has replaced`,
    ],
    [
      'no file whose content is not known',
      { config: { files: [{ path: FILE, contentFrom: {} }] } },
      `file ${FILE} of the KubeadmConfig: its content is in a Secret`,
    ],
    [
      'no kubelet where a version is missing',
      { version: 'v1.35.0' },
      'no MachineComponent is kubelet v1.35.0',
    ],
    [
      'no machine whose MachineComponent was deleted',
      { components: [KUBELET] },
      `no component of node-1 has file ${FILE}`,
    ],
  ])('CAP-17 finds for a machine %s', (_, parts, expected) => {
    expect(find(parts)).toBe(expected);
  });

  it('CAP-17 leaves out the defaults of the version before, and keeps what somebody has set', () => {
    const components = [withParameters('1', '1'), withParameters('2', '2'), KUBELET];
    const entries = (level: string): unknown =>
      targetEntries(
        withParameter(level)(fileMachine(1, { components: [withParameters('1', '1'), KUBELET] })),
        { version: undefined, paths: [FILE] },
        bootstrapFiles(configOf('a = 2')),
        rulesOf(components),
      );
    // The default of version 1 was written to the entry: version 2 has its own, and differs in it.
    expect(entries('1')).toMatch(/^runtime-1 has another/);
    expect(entries('2')).toMatchObject([{ componentRef: 'runtime-1', parameters: { level: '2' } }]);
  });
});

describe('hasOtherFiles', () => {
  it.each<[name: string, config: object, expected: boolean]>([
    ['each file is as the config has it', configOf('a = 1'), false],
    ['a file has another content', configOf('a = 2'), true],
    [
      'the config has a file that no component writes',
      configOf('a = 1', [{ path: '/etc/motd', content: 'x' }]),
      false,
    ],
    ['the content of a file is not known', { files: [{ path: FILE, contentFrom: {} }] }, true],
    ['the config has no files', {}, false],
  ])('CAP-18 tells what components do otherwise: %s', (_, config, expected) => {
    expect(hasOtherFiles(fileMachine(1), bootstrapFiles(config), rulesOf())).toBe(expected);
  });
});
