import { describe, expect, it } from 'vitest';
import { findEntry } from '../../../../src/sync/render/harness/entry.ts';
import { ignoredFileWarnings } from '../../../../src/sync/render/harness/ignored-files.ts';
import { createFleetFolder, type Files } from '../../../support/fleet-repository.ts';

const PROGRAM =
  'main.ts is the fleet program, and only what it declares is applied. Read it there with YamlFile of kubenode/constructs, from a folder other than hub and clusters';

function warningsIn(files: Files, path = '.'): readonly string[] {
  const root = createFleetFolder(files);
  return ignoredFileWarnings(root, path, findEntry(root, path));
}

describe('ignored files', () => {
  it.each<[name: string, files: Files, warnings: readonly string[]]>([
    [
      'names YAML of a cluster beside a program',
      { 'main.ts': '', 'clusters/test/web.yaml': '' },
      [`clusters/test/web.yaml is not applied: ${PROGRAM}`],
    ],
    [
      'names three files, and counts the others',
      { 'main.ts': '', ...Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`hub/${name}.yaml`, ''])) },
      [`hub/a.yaml is not applied (also hub/b.yaml, hub/c.yaml, and 1 more): ${PROGRAM}`],
    ],
    [
      'is silent about other YAML beside a program',
      { 'main.ts': '', 'manifests/web.yaml': '', 'a.yaml': '' },
      [],
    ],
    [
      'names a file of a plain fleet that is in no cluster',
      { 'clusters/test/web.yaml': '', 'clusters/prod.yaml': '' },
      ['clusters/prod.yaml is not applied: it is in no folder of a cluster. Move it to clusters/NAME/'],
    ],
    [
      'is silent about a plain fleet',
      { 'clusters/test/web.yaml': '', 'hub/a.yaml': '', 'values.yaml': '' },
      [],
    ],
  ])('FST-9 warns about manifests that are not applied: %s', (_, files, warnings) => {
    expect(warningsIn(files)).toEqual(warnings);
  });

  it('FST-9 looks for them below the path of the Pipeline only', () => {
    const files = { 'deep/main.ts': '', 'deep/clusters/test/a.yaml': '', 'clusters/test/b.yaml': '' };
    expect(warningsIn(files, 'deep')).toEqual([`deep/clusters/test/a.yaml is not applied: deep/${PROGRAM}`]);
  });
});
