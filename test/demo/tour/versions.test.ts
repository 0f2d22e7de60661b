import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  addRelease,
  declareHostedCluster,
  nextVersion,
  selectedVersion,
  selectVersion,
} from '../../../src/demo/tour/versions.ts';

const TEMPLATES = new URL('../../../src/demo/template/templates/demo/fleet/', import.meta.url);
const VERSIONS = readFileSync(new URL('versions.ts', TEMPLATES), 'utf8');
const CLUSTERS = readFileSync(new URL('clusters.ts', TEMPLATES), 'utf8');
const WEB = readFileSync(new URL('web.ts', TEMPLATES), 'utf8');

describe('edits of the demo repository', () => {
  it('selects another version of the web server, and changes nothing else', () => {
    expect(selectedVersion(VERSIONS)).toBe('1.0.0');
    const after = selectVersion(VERSIONS, '1.7.0');
    expect(selectedVersion(after)).toBe('1.7.0');
    expect(after.replace("web: '1.7.0'", "web: '1.0.0'")).toBe(VERSIONS);
  });

  it('adds a release once, and none that exists', () => {
    const after = addRelease(WEB, '1.7.0', 'hello');
    expect(after).toContain(
      "  { version: '1.7.0', greeting: 'hello' },\n  { version: '2.0.0', greeting: '' },",
    );
    expect(addRelease(after, '1.7.0', 'hello')).toBe(after);
    expect(addRelease(WEB, '1.1.0', 'hello')).toBe(WEB);
  });

  it('declares a hosted cluster in a line of its own', () => {
    const after = declareHostedCluster(CLUSTERS, { name: 'ci-2', version: 'v1.36.3', machines: 2 });
    const added = after.split('\n').filter((line) => !CLUSTERS.split('\n').includes(line));
    expect(added).toEqual([
      "  { name: 'ci-2', environment: 'test', hosted: { driver: 'process', version: 'v1.36.3' }, deletion: { protection: false }, machines: 2, zones: ['east'] },",
    ]);
    expect(after.replace(`${added[0]}\n`, '')).toBe(CLUSTERS);
  });

  it('computes a version from the number of commits, and none of those that the guide of the demo rolls out', () => {
    expect(nextVersion(1, 12)).toBe('1.13.0');
    expect([nextVersion(1, 1), nextVersion(2, 1)]).toEqual(['1.2.0', '2.2.0']);
  });
});
