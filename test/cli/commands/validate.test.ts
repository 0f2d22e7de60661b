import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { splitFieldPath } from '../../../src/cli/checks/field-path.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const CLUSTER = `apiVersion: kubenode.dev/v1alpha1
kind: Cluster
metadata: {name: test}
spec: {environment: test, connection: {credentialsRef: {name: test}}}
`;
const NAMESPACE = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n';

async function validate(files: Record<string, string>): Promise<{ code: number; out: string; err: string }> {
  const cwd = tempFolder('validate');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const io = testIo({ cwd });
  const code = await runCommandLine(io, ['validate', '.']);
  return { code, out: io.stdout, err: io.stderr };
}

describe('kubenode validate', () => {
  it('accepts valid objects and counts those it cannot check', async () => {
    expect(await validate({ 'a.yaml': CLUSTER, 'b.yml': NAMESPACE, 'c.txt': 'no YAML' })).toEqual({
      code: 0,
      out: '2 objects in 2 files read, 1 of other groups not checked (use --server)\n',
      err: '',
    });
  });

  it('reports each problem with file and line', async () => {
    const { code, out, err } = await validate({ 'a.yaml': CLUSTER.replace('environment', 'enviroment') });
    expect(code).toBe(65);
    expect(out).toMatch(/^a\.yaml:4 +Cluster\/test +spec\.enviroment +.*did you mean environment/m);
    expect(err).toMatch(/^\d+ problems?; 1 object in 1 file read\n$/);
  });

  it('refuses a field of a DefenderPolicy that this version would ignore', async () => {
    const policy = `apiVersion: kubenode.dev/v1alpha1
kind: DefenderPolicy
metadata: {name: gpu}
spec:
  scope: {nodeSelector: {all: true}}
  breakers:
    - {name: storm, type: CommonCause, per: Zone, dimensions: [zone]}
`;
    const { code, out } = await validate({ 'a.yaml': policy });
    expect(code).toBe(65);
    expect(out).toMatch(/^a\.yaml:7 +DefenderPolicy\/gpu +spec\.breakers\[0\]\.per +not supported in this/m);
    expect((await validate({ 'a.yaml': policy.replace('per: Zone', 'per: Cluster') })).code).toBe(0);
  });

  it('refuses an unknown placeholder of a MachineComponent, and prints the digest of a valid one', async () => {
    const component = `apiVersion: kubenode.dev/v1alpha1
kind: MachineComponent
metadata: {name: web-1.0.0}
spec:
  component: web
  version: 1.0.0
  files:
    - path: /etc/web.conf
      content: "listen \${port.http} in \${directory}"
`;
    const { code, out } = await validate({ 'a.yaml': component });
    expect(code).toBe(65);
    expect(out).toMatch(
      /^a\.yaml:9 +MachineComponent\/web-1\.0\.0 +spec\.files\[0\]\.content +unknown placeholder \$\{port\.http\}, \$\{directory\}: known are \$\{dir\}, /m,
    );
    const valid = await validate({ 'a.yaml': component.replace(/listen.*"/, 'in ${dir}"') });
    expect(valid.code).toBe(0);
    expect(valid.out).toMatch(/^1 object in 1 file read\ndigest of web-1\.0\.0: sha256:[0-9a-f]{64}\n$/);
  });

  it('SAF-12 reads no file that a link points to, in a folder or named, and reports the links', async () => {
    const [outside, cwd] = [tempFolder('outside'), tempFolder('validate')];
    writeFileSync(join(outside, 'secret.yaml'), 'token: s3cret\nkind: [');
    mkdirSync(join(cwd, 'fleet'));
    writeFileSync(join(cwd, 'fleet', 'a.yaml'), CLUSTER);
    symlinkSync(join(outside, 'secret.yaml'), join(cwd, 'fleet', 'link.yaml'));
    symlinkSync(outside, join(cwd, 'fleet', 'folder'));
    const run = async (path: string): Promise<{ code: number; text: string }> => {
      const io = testIo({ cwd });
      const code = await runCommandLine(io, ['validate', path]);
      return { code, text: io.stdout + io.stderr };
    };
    const all = await run('.');
    expect(all).toEqual({ code: 0, text: expect.stringContaining('1 object in 1 file read') as string });
    expect(all.text).toContain('fleet/link.yaml was skipped: a symbolic link');
    expect(all.text).toContain('fleet/folder was skipped: a symbolic link');
    for (const path of ['fleet/link.yaml', 'fleet/folder']) {
      const named = await run(path);
      expect(named).toEqual({ code: 65, text: expect.stringContaining('links are not followed') as string });
      expect(named.text).not.toContain('s3cret');
    }
  });

  it('fails on a folder without YAML or JSON', async () => {
    const { code, err } = await validate({ 'c.txt': '' });
    expect(code).toBe(65);
    expect(err).toContain('the folder contains no *.yaml, *.yml or *.json file');
  });
});

describe('splitFieldPath', () => {
  it.each([
    ['spec.stages[0].name', ['spec', 'stages', 0, 'name']],
    ['metadata.labels["a.b/c"]', ['metadata', 'labels', 'a.b/c']],
    ['spec.x[key]', ['spec', 'x', 'key']],
    ['', []],
  ])('splits %j', (path, steps) => {
    expect(splitFieldPath(path)).toEqual(steps);
  });
});
