import { Command } from 'commander';
import { beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../../src/api/generated/resources.ts';
import {
  nextChoices,
  nextNames,
  readNames,
  type TypedLine,
} from '../../../../src/cli/commands/completion/names.ts';
import { createProgram } from '../../../../src/cli/program.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const COMMAND = new Command('approve')
  .argument('<release>')
  .argument('<stage>')
  .option('--pipeline <name>')
  .option('-r, --reason <text>')
  .option('--quiet');

let root: Command;
beforeAll(async () => {
  root = await createProgram(testIo(), []);
});

/** After the names of the commands. */
function lineOf(typed: string): TypedLine {
  const words = typed.split(' ');
  let command = root;
  for (;;) {
    const child = command.commands.find((each) => each.name() === words[0]);
    if (!child) return { command, words };
    command = child;
    words.shift();
  }
}

function kindAfter(line: TypedLine): string | undefined {
  const source = nextNames(line);
  return typeof source === 'object' ? source.resource.kind : source;
}

describe('completion of names', () => {
  it.each<[name: string, words: readonly string[], kind: string | undefined]>([
    ['the first argument', [], 'Release'],
    ['an argument after an option with a value', ['--reason', 'why'], 'Release'],
    ['an argument after an option without one', ['--quiet'], 'Release'],
    ['the stages of pipelines', ['fleet-1'], 'Pipeline'],
    ['the value of an option', ['--pipeline'], 'Pipeline'],
    ['the value of an option after the arguments', ['fleet-1', 'prod', '--pipeline'], 'Pipeline'],
    ['the value of an option that names no object', ['-r'], undefined],
    ['nothing after all arguments', ['fleet-1', 'prod'], undefined],
  ])('knows the kind of %s', (_, words, kind) => {
    expect(kindAfter({ command: COMMAND, words })).toBe(kind);
  });

  it.each([
    ['history', 'Cluster'],
    ['status', 'Cluster'],
    ['release acknowledge', 'Cluster'],
    ['release halt', 'Pipeline'],
    ['remedy show', 'RemedyOperationJob'],
    ['remedy cancel', 'RemedyOperationJob'],
    ['remedy watch', 'RemedyOperationJob'],
    ['remedy list --rule', 'NodeRemedier'],
    ['remedy list --machine', 'Machine'],
    ['maintenance show', 'MaintenanceEvent'],
    ['maintenance list --machine', 'Machine'],
    ['why job', 'RemedyOperationJob'],
    ['release halt fleet --cluster', 'Cluster'],
    ['release halt fleet --cluster prod --unit', 'Cluster'],
    ['release resume fleet --cluster prod --unit', 'Cluster'],
    ['release show', 'Release'],
    ['release list --pipeline', 'Pipeline'],
    ['release approve', 'Release'],
    ['release approve fleet-1', 'Pipeline'],
    ['release accept-head --pipeline', 'Pipeline'],
    ['sync now --pipeline', 'Pipeline'],
    ['plan --pipeline', 'Pipeline'],
    ['render --target', 'Cluster'],
    ['machine show', 'Machine'],
    ['machine hold', 'Machine'],
    ['machine release', 'Machine'],
    ['machine token', 'Machine'],
    ['machine list --set', 'MachineComponentSet'],
    ['defender ask', 'Machine'],
    ['rollout show', 'MachineComponentSet'],
    ['rollout watch', 'MachineComponentSet'],
    ['rollout pause', 'MachineComponentSet'],
    ['rollout resume', 'MachineComponentSet'],
    ['rollout approve', 'MachineComponentSet'],
    ['rollout undo', 'MachineComponentSet'],
    ['component list', 'MachineComponent'],
    ['why node', 'Machine'],
    ['why machine', 'Machine'],
    ['why rollout', 'MachineComponentSet'],
    ['local kubeconfig', 'LocalClusters'],
    ['agent simulate --cluster', 'LocalClusters'],
    ['cluster delete', 'Cluster'],
    ['cluster kubeconfig', 'Cluster'],
    ['cluster create', undefined],
  ])('completes what follows kubenode %s', (typed, kind) => {
    expect(kindAfter(lineOf(typed))).toBe(kind);
  });

  it('completes every argument that is the name of an object of the hub', () => {
    const texts = allCommands(root).flatMap((command) =>
      command.registeredArguments.map((argument, index) => {
        const words = command.registeredArguments.slice(0, index).map(() => 'x');
        return { command, words, text: `${command.name()} ${argument.description}` };
      }),
    );
    const named = texts.filter(({ text }) =>
      /name of (a|the) (Cluster|Pipeline|Release|Machine|MachineComponentSet|stage)\b/.test(text),
    );
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((line) => kindAfter(line) === undefined).map(({ text }) => text)).toEqual([]);
  });

  it('completes the units of the cluster that the line names, and those of all without one', () => {
    expect([
      unitsAfter('release halt fleet --cluster prod --unit'),
      unitsAfter('release halt fleet --unit'),
    ]).toEqual([
      ['shop', 'web'],
      ['shop', 'web', 'db'],
    ]);
    expect(unitsAfter('release halt fleet --cluster=test --unit')).toEqual(['db']);
  });

  it('completes the choices of an option or an argument', () => {
    expect(nextChoices(lineOf('why'))).toEqual(['node', 'machine', 'rollout', 'release', 'job']);
    expect(nextChoices(lineOf('status -o'))).toEqual(['table', 'json', 'yaml']);
    expect(nextChoices(lineOf('release show'))).toEqual([]);
  });

  it('completes nothing, without an error, where there is no cluster', async () => {
    const io = testIo({ env: { HOME: tempFolder('home') } });
    const missing = ['--kubeconfig', '/missing'];
    expect(await readNames(io, missing, { resource: MACHINES })).toEqual([]);
    expect(await readNames(io, missing, { resource: MACHINES, more: ['hub'] })).toEqual(['hub']);
    expect(await readNames(io, [], 'LocalClusters')).toEqual([]);
    expect(io.stderr).toBe('');
  });
});

function allCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

const CLUSTERS: readonly KubeObject[] = [
  clusterWith('prod', ['shop', 'web']),
  clusterWith('test', ['db']),
  { apiVersion: 'v1', kind: 'Cluster', metadata: { name: 'new' } },
];

function clusterWith(name: string, units: readonly string[]): KubeObject {
  return { apiVersion: 'v1', kind: 'Cluster', metadata: { name }, status: { sync: { units } } };
}

function unitsAfter(typed: string): readonly string[] {
  const source = nextNames(lineOf(typed));
  return CLUSTERS.flatMap((object) => (typeof source === 'object' ? (source.names?.(object) ?? []) : []));
}
