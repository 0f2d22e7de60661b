import { describe, expect, it } from 'vitest';
import { findEntry } from '../../../../src/sync/render/harness/entry.ts';
import { createFleetFolder, type Files } from '../../../support/fleet-repository.ts';

describe('findEntry', () => {
  it.each<[name: string, files: Files, path: string, entry: object]>([
    ['the program of cdk8s.yaml', { 'cdk8s.yaml': 'app: node a/b.ts', 'a/b.ts': '' }, '.', program('a/b.ts')],
    [
      'the program of cdk8s.yaml before other programs',
      { 'cdk8s.yaml': 'app: node b.ts', 'b.ts': '', 'main.ts': '' },
      '.',
      program('b.ts'),
    ],
    [
      'a program that cdk8s runs with the sources of kubenode',
      { 'cdk8s.yaml': 'app: node --conditions=kubenode-source a/b.ts', 'a/b.ts': '' },
      '.',
      program('a/b.ts'),
    ],
    ['fleet/main.ts', { 'fleet/main.ts': '', 'main.ts': '' }, '.', program('fleet/main.ts')],
    ['a program in the path of the Pipeline', { 'a/main.ts': '', 'main.ts': '' }, 'a', program('a/main.ts')],
    ['a program before YAML', { 'main.js': '', 'hub/a.yaml': '' }, '.', program('main.js')],
    ['folders of YAML', { 'clusters/test/a.yaml': '' }, '.', { kind: 'plain', folder: '.' }],
  ])('finds %s', (_, files, path, entry) => {
    expect(findEntry(createFleetFolder(files), path)).toEqual(entry);
  });

  it.each<[name: string, files: Files, path: string, reason: RegExp]>([
    ['an empty commit', { 'README.md': 'x' }, '.', /neither cdk8s\.yaml.*nor a folder/],
    ['an app that is not a call of node', { 'cdk8s.yaml': 'app: npx tsx main.ts' }, '.', /node FILE/],
    ['arguments of node', { 'cdk8s.yaml': 'app: node --require x main.ts' }, '.', /node FILE/],
    ['a cdk8s.yaml without an app', { 'cdk8s.yaml': 'language: typescript' }, '.', /no app/],
    ['a missing program', { 'cdk8s.yaml': 'app: node main.ts' }, '.', /main\.ts, which is not in the commit/],
    [
      'a program outside of the repository',
      { 'cdk8s.yaml': 'app: node ../main.ts' },
      '.',
      /not in the commit/,
    ],
    ['a path outside of the repository', { 'main.ts': '' }, '../x', /outside of the repository/],
    ['a missing path', { 'main.ts': '' }, 'x', /no folder x/],
  ])('explains %s', (_, files, path, reason) => {
    expect(findEntry(createFleetFolder(files), path)).toEqual({
      kind: 'none',
      reason: expect.stringMatching(reason) as string,
    });
  });
});

function program(file: string): object {
  return { kind: 'program', file };
}
