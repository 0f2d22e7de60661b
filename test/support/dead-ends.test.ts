import { expect, it } from 'vitest';
import { deadEnds } from './dead-ends.ts';
import { shellCommands } from './shell-lines.ts';

it.each<[name: string, script: string, problems: readonly string[]]>([
  [
    'another repository than that of npm start',
    'kubenode sync --from ../a',
    ['kubenode sync --from ../a: the hub follows ../kubenode-demo'],
  ],
  [
    'another demo',
    'kubenode start --demo ../a',
    ['kubenode start --demo ../a: the hub follows ../kubenode-demo'],
  ],
  ['a hub that was wiped', 'kubenode local down --wipe\nkubenode local up\nkubenode sync --from ../a', []],
  [
    'a hub that was only stopped',
    'kubenode local down\nkubenode local up\nkubenode sync --from ../a',
    ['kubenode sync --from ../a: the hub follows ../kubenode-demo'],
  ],
  ['the hub of another context', 'kubenode sync --context eu-1 --from ../a', []],
  [
    'another repository in the context of the local hub',
    'kubenode sync --context hub --from ../a',
    ['kubenode sync --context hub --from ../a: the hub follows ../kubenode-demo'],
  ],
  ['the folder of README.md', 'kubenode init ../my-fleet', ['kubenode init ../my-fleet: ../my-fleet exists']],
  [
    'a folder that the page created',
    'kubenode init ../a\nkubenode init ../a --plain',
    ['kubenode init ../a --plain: ../a exists'],
  ],
  [
    'clusters that were stopped',
    'kubenode local down\nkubenode machine list\nkubenode agent status\nkubenode local up\nkubenode machine list',
    ['kubenode machine list: no cluster runs'],
  ],
  ['npm start', 'npm start\nkubenode status', []],
])('finds %s', (_, script, problems) => {
  expect(deadEnds(shellCommands(script))).toEqual(problems);
});

it('begins README.md with nothing', () => {
  expect(
    deadEnds(
      [
        ['kubenode', 'init', '../my-fleet'],
        ['kubenode', 'sync', '--from', '../my-fleet'],
      ],
      true,
    ),
  ).toEqual([]);
});
