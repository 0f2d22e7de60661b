import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createSandboxHost } from '../../../../src/agent/host/sandbox/host.ts';
import { downloadArtifact, verifyArtifact } from '../../../../src/agent/install/artifact.ts';
import { readDownloadSettings } from '../../../../src/agent/install/settings.ts';
import { cachedArtifact } from '../../../../src/agent/layout.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { lockHolder } from '../../../../src/os/lock.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { createFleetFolder } from '../../../support/fleet-repository.ts';
import {
  type Publisher,
  type PublisherAnswer,
  sendFile,
  startPublisher,
} from '../../../support/publisher.ts';
import { BASIC, noRegistryReason, startRegistry } from '../../../support/registry.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const FILES = { '/web-amd64': 'web for amd64', '/web-arm64': 'web for arm64' };
const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');
const DIGESTS = Object.values(FILES).map(sha256Of);

let publisher: Publisher;
let folder: string;
/** The URL of each artifact. */
let urlOf: (path: string) => string;

beforeEach(async () => {
  publisher = await startPublisher();
  for (const [path, content] of Object.entries(FILES)) publisher.files.set(path, content);
  urlOf = (path) => publisher.url + path;
  folder = tempFolder('mirror');
});

function fleet(): string {
  const artifacts = Object.entries(FILES).map(([path, content]) => ({
    os: 'linux',
    arch: path.slice(-5),
    url: urlOf(path),
    sha256: sha256Of(content),
  }));
  const spec = JSON.stringify({ component: 'web', version: '1.0.0', artifacts });
  const main = `import { Fleet } from 'kubenode/constructs';
import { ApiObject } from 'cdk8s';
const fleet = new Fleet();
const cluster = fleet.cluster('test', { environment: 'test', connection: { credentialsRef: { name: 'test' } } });
new ApiObject(cluster.unit('web'), 'web', {
  apiVersion: 'kubenode.dev/v1alpha1', kind: 'MachineComponent', metadata: { name: 'web-1.0.0' }, spec: ${spec},
} as never);
fleet.synth();
`;
  return createFleetFolder({ 'fleet/main.ts': main });
}

interface Synced {
  readonly code: number;
  readonly err: string;
  readonly artifacts: readonly {
    readonly sha256: string;
    readonly state: string;
    readonly because?: string;
  }[];
}

async function sync(...args: string[]): Promise<Synced> {
  const io = testIo({ cwd: fleet(), env: { HOME: folder, PATH: process.env['PATH'] } });
  const code = await runCommandLine(io, ['mirror', 'sync', ...args, '-o', 'json']);
  const { artifacts } = JSON.parse(io.stdout || '{"artifacts":[]}') as Pick<Synced, 'artifacts'>;
  return { code, err: io.stderr, artifacts };
}

function states({ artifacts }: Synced): readonly string[] {
  return artifacts.map(({ state }) => state);
}

/** An agent whose only source is the mirror. */
async function loadFrom(mirror: string, auths: object = {}): Promise<readonly string[]> {
  const host = createSandboxHost({ directory: tempFolder('host'), clock: createSystemClock() });
  const write = async (path: string, content: object): Promise<void> => {
    const attributes = { mode: '0600', owner: 'root:root' };
    await host.files.write(path, new TextEncoder().encode(JSON.stringify(content)), attributes);
  };
  await host.files.makeDirectory('/etc/kubenode');
  await write('/etc/kubenode/downloads.json', { mirrors: [mirror] });
  await write('/etc/kubenode/registries.json', { auths });
  const settings = await readDownloadSettings(host.files);
  const loaded: string[] = [];
  for (const sha256 of DIGESTS) {
    const artifact = {
      url: 'http://127.0.0.1:9/none',
      mirrors: [],
      sha256,
      format: 'Raw',
      install: [],
    } as const;
    await downloadArtifact(host.files, host.network, artifact, { settings });
    await verifyArtifact(host.files, artifact);
    loaded.push(Buffer.from((await host.files.read(cachedArtifact(sha256))) ?? []).toString());
  }
  return loaded;
}

describe('kubenode mirror sync to a folder', () => {
  it('copies what is missing, once, and agents load it from a server of static files', async () => {
    const target = join(folder, 'artifacts');
    const planned = await sync(target, '--dry-run');
    expect([planned.code, ...states(planned)]).toEqual([2, 'Missing', 'Missing']);
    const first = await sync(target);
    expect([first.code, ...states(first)]).toEqual([0, 'Copied', 'Copied']);
    expect(first.err).toContain('/etc/kubenode/downloads.json has:\n  {"mirrors": ["URL of the folder"]}');
    expect(readdirSync(target).toSorted()).toEqual(['.partial', ...DIGESTS].toSorted());
    expect(readdirSync(join(target, '.partial'))).toEqual([]);
    // The server of static files is another user.
    expect(DIGESTS.map((sha256) => statSync(join(target, sha256)).mode & 0o777)).toEqual([0o644, 0o644]);

    const requests = publisher.asked.length;
    const second = await sync(target);
    expect([second.code, ...states(second)]).toEqual([0, 'Present', 'Present']);
    expect(publisher.asked.length).toBe(requests);

    const server = createServer((request, response) => {
      createReadStream(join(target, request.url ?? ''))
        .on('error', () => response.writeHead(404).end())
        .pipe(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await loadFrom(`http://127.0.0.1:${port}`)).toEqual(Object.values(FILES));
    expect(await loadFrom(`file://${target}`)).toEqual(Object.values(FILES));
  });

  it('copies once when two run at the same time, also by another name of the folder', async () => {
    const target = join(folder, 'artifacts');
    symlinkSync(folder, join(folder, 'link'));
    const holders: (string | undefined)[] = [];
    const answer = async (...exchange: Parameters<PublisherAnswer>): Promise<void> => {
      holders.push(await lockHolder(`kubenode mirror ${realpathSync(folder)}/artifacts/.partial`));
      sendFile(...exchange, 'web for amd64');
    };
    publisher.answers.set('/web-amd64', [(...exchange) => void answer(...exchange)]);
    const both = await Promise.all([sync(target), sync(join(folder, 'link/artifacts'))]);
    expect(both.map((each) => states(each).join()).toSorted()).toEqual(['Copied,Copied', 'Present,Present']);
    expect([holders, publisher.asked.length]).toEqual([[`pid ${process.pid}`], 2]);
  });

  it('copies again what a disk changed, and continues what was interrupted', async () => {
    const target = join(folder, 'artifacts');
    await sync(target);
    const [amd64 = '', arm64 = ''] = DIGESTS;
    writeFileSync(join(target, amd64), 'changed');
    rmSync(join(target, arm64));
    const url = `${publisher.url}/web-arm64`;
    const etag = (await fetch(url)).headers.get('etag');
    writeFileSync(join(target, '.partial', arm64), 'web ');
    writeFileSync(join(target, '.partial', `${arm64}.source`), JSON.stringify({ url, etag }));
    const again = await sync(target);
    expect([again.code, ...states(again)]).toEqual([0, 'Copied', 'Copied']);
    expect(readFileSync(join(target, amd64), 'utf8')).toBe('web for amd64');
    expect(publisher.asked.slice(-2)).toEqual(['/web-amd64', '/web-arm64 bytes=4-']);
  });

  it('copies nothing with another checksum, and the others nevertheless', async () => {
    publisher.files.set('/web-arm64', 'something else');
    const target = join(folder, 'artifacts');
    const { code, artifacts } = await sync(target);
    expect(code).toBe(1);
    const failed = artifacts.find(({ state }) => state === 'Failed');
    expect(failed).toMatchObject({
      sha256: DIGESTS[1],
      because: `wrong checksum of ${publisher.url}/web-arm64: expected sha256 ${DIGESTS[1]}, got ${sha256Of('something else')}`,
    });
    expect([existsSync(join(target, DIGESTS[0] ?? '')), existsSync(join(target, DIGESTS[1] ?? ''))]).toEqual([
      true,
      false,
    ]);
  });

  it('exits with 69 when a source does not have an artifact', async () => {
    publisher.files.delete('/web-arm64');
    const { code, artifacts } = await sync(join(folder, 'artifacts'));
    expect(code).toBe(69);
    expect(artifacts.map(({ because }) => because ?? '').join('')).toContain(
      'web-arm64 could not be downloaded',
    );
  });

  it('refuses a registry that is not named by a repository alone', async () => {
    const { code, err } = await sync('oci://registry.example.com/a:tag');
    expect(code).toBe(64);
    expect(err).toContain('expected oci://REGISTRY/REPOSITORY, got oci://registry.example.com/a:tag');
  });
});

describe.skipIf(noRegistryReason)(
  `kubenode mirror sync to a registry${noRegistryReason ? ` (${noRegistryReason})` : ''}`,
  () => {
    it.each(['Basic', 'Bearer'] as const)(
      'with %s authorization pushes what is missing, once, and agents load it by digest',
      async (auth) => {
        const registry = await startRegistry(auth);
        const target = `oci://${registry.name}/fleet/mirror`;
        const auths = { [registry.name]: { auth: BASIC } };
        const config = join(folder, 'registries.json');
        writeFileSync(config, JSON.stringify({ auths }), { mode: 0o600 });
        const denied = await sync(target);
        expect([denied.code, ...states(denied)]).toEqual([69, 'Failed', 'Failed']);
        const first = await sync(target, '--registry-config', config);
        expect([first.code, ...states(first)]).toEqual([0, 'Copied', 'Copied']);
        expect(first.err).toContain(`{"mirrors": ["${target}"]}`);
        const second = await sync(target, '--registry-config', config);
        expect([second.code, ...states(second)]).toEqual([0, 'Present', 'Present']);
        expect(await loadFrom(target, auths)).toEqual(Object.values(FILES));
        expect(`${first.err}${second.err}${denied.err}`).not.toContain(BASIC);
        expect(readdirSync(join(folder, '.cache/kubenode/mirror'))).toEqual([]);
      },
    );

    it('pushes to a registry that everybody reads, and that redirects to a store of files', async () => {
      const registry = await startRegistry('Basic');
      const front = await startFrontOf(registry.name);
      const target = `oci://${front.name}/fleet/mirror`;
      const config = join(folder, 'registries.json');
      writeFileSync(config, JSON.stringify({ auths: { [front.name]: { auth: BASIC } } }), { mode: 0o600 });
      const denied = await sync(target);
      expect([denied.code, ...states(denied)]).toEqual([69, 'Failed', 'Failed']);
      const first = await sync(target, '--registry-config', config);
      expect([first.code, ...states(first)]).toEqual([0, 'Copied', 'Copied']);
      // The second artifact has the same empty config as the first one: its content is there.
      expect(front.redirects()).toBe(1);
      expect(await loadFrom(target)).toEqual(Object.values(FILES));
    });

    it.each(['None', 'Public'] as const)(
      'copies from a registry that everybody reads (%s), without credentials',
      async (auth) => {
        const registry = await startRegistry(auth);
        for (const content of Object.values(FILES)) {
          await registry.pushBlob('tools/web', Buffer.from(content));
        }
        urlOf = () => `oci://${registry.name}/tools/web`;
        const { code, artifacts } = await sync(join(folder, 'artifacts'));
        expect([code, ...artifacts.map(({ state, because = '' }) => state + because)]).toEqual([
          0,
          'Copied',
          'Copied',
        ]);
        const scope = 'scope=repository%3Atools%2Fweb%3Apull';
        for (const { query, authorization } of registry.tokenRequests) {
          expect([query.split('&')[1], authorization]).toEqual([scope, undefined]);
        }
        expect(registry.tokenRequests.length).toBe(auth === 'Public' ? 2 : 0);
      },
    );
  },
);

/** What is in front of many registries: everybody may read, and content is at a store of files, to which a HEAD is redirected. */
async function startFrontOf(
  registry: string,
): Promise<{ readonly name: string; readonly redirects: () => number }> {
  let redirects = 0;
  const server = createServer((request, response) => {
    const { method = 'GET', url: path = '/' } = request;
    const isRead = ['GET', 'HEAD'].includes(method);
    const headers = isRead ? { ...request.headers, authorization: `Basic ${BASIC}` } : request.headers;
    const forwarded = send(`http://${registry}${path}`, { method, headers }, (answer) => {
      const isContent = method === 'HEAD' && path.includes('/blobs/') && answer.statusCode === 200;
      redirects += Number(isContent);
      if (isContent) response.writeHead(307, { location: 'https://files.example.com/content' });
      else response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { name: `127.0.0.1:${(server.address() as AddressInfo).port}`, redirects: () => redirects };
}
