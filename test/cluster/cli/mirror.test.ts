import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_COMPONENTS } from '../../../src/api/generated/resources.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { sha256Of, startPublisher } from '../../support/publisher.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { run } from './rollout-fixture.ts';

let installed: InstalledServer;
let client: Client;

beforeAll(async () => {
  installed = await startInstalledServer();
  ({ client } = installed.server);
});
afterAll(() => installed?.stop());

async function declare(version: string, url: string, content: string): Promise<void> {
  const artifacts = [{ os: 'linux', arch: 'amd64', url, sha256: sha256Of(content) }];
  const spec = { component: 'web', version, artifacts };
  const object = {
    apiVersion: API_VERSION,
    kind: MACHINE_COMPONENTS.kind,
    metadata: { name: `web-${version}` },
    spec,
  };
  await client.apply(MACHINE_COMPONENTS, object, { fieldManager: 'kubectl', force: true });
}

function stateOf(stdout: string): readonly string[] {
  return (JSON.parse(stdout) as { artifacts: { state: string }[] }).artifacts.map(({ state }) => state);
}

describe('kubenode mirror sync --from cluster', () => {
  it('copies the artifacts of every MachineComponent in the cluster, once', async () => {
    const publisher = await startPublisher();
    const contents = ['web 1', 'web 2'];
    for (const [index, content] of contents.entries()) {
      publisher.files.set(`/${index}`, content);
      await declare(`${index}.0.0`, `${publisher.url}/${index}`, content);
    }
    const target = join(tempFolder('mirror'), 'artifacts');
    const from = ['mirror', 'sync', target, '--from', 'cluster', '-o', 'json'];

    const planned = await run(installed, ...from, '--dry-run');
    expect([planned.exitCode, stateOf(planned.stdout)]).toEqual([2, ['Missing', 'Missing']]);
    const first = await run(installed, ...from);
    expect([first.exitCode, stateOf(first.stdout)]).toEqual([0, ['Copied', 'Copied']]);
    const names = contents.map(sha256Of);
    expect(readdirSync(target).toSorted()).toEqual(['.partial', ...names].toSorted());
    expect(names.map((name) => readFileSync(join(target, name), 'utf8'))).toEqual(contents);
    const second = await run(installed, ...from);
    expect([second.exitCode, stateOf(second.stdout)]).toEqual([0, ['Present', 'Present']]);
    expect(publisher.asked).toEqual(['/0', '/1']);
  });
});
