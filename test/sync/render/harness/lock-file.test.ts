import { describe, expect, it } from 'vitest';
import { lockWarnings } from '../../../../src/sync/render/harness/lock-file.ts';
import { createFleetFolder } from '../../../support/fleet-repository.ts';

const VERSIONS = { cdk8s: '2.70.0', constructs: '10.8.1' };
const locked = (versions: Readonly<Record<string, string>>): string =>
  JSON.stringify({
    packages: Object.fromEntries(
      Object.entries(versions).map(([name, version]) => [`node_modules/${name}`, { version }]),
    ),
  });

describe('lockWarnings', () => {
  it.each<[name: string, files: Readonly<Record<string, string>>, warnings: readonly RegExp[]]>([
    ['does not warn without a lock file', {}, []],
    ['does not warn about equal versions', { 'package-lock.json': locked(VERSIONS) }, []],
    ['does not warn about other packages', { 'package-lock.json': locked({ lodash: '1.0.0' }) }, []],
    [
      'warns about a different version',
      { 'package-lock.json': locked({ ...VERSIONS, cdk8s: '2.0.0' }) },
      [/^package-lock\.json has cdk8s 2\.0\.0, but this kubenode renders with 2\.70\.0/],
    ],
    [
      'prefers the lock file in the path of the Pipeline',
      { 'package-lock.json': locked({ cdk8s: '2.0.0' }), 'deep/package-lock.json': locked(VERSIONS) },
      [],
    ],
    ['warns about an invalid lock file', { 'package-lock.json': '{' }, [/is not valid JSON/]],
  ])('%s', (_, files, warnings) => {
    const folder = createFleetFolder({ 'deep/main.ts': '', ...files });
    expect(lockWarnings(folder, 'deep', VERSIONS)).toEqual(
      warnings.map((warning) => expect.stringMatching(warning) as string),
    );
  });
});
