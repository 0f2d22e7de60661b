/**
 * A real registry: Debian's docker-registry on a port of its own, open, or with Basic or Bearer authorization. A public one gives everybody a
 * token to pull.
 */
import { spawn } from 'node:child_process';
import { createHash, createPrivateKey, sign, X509Certificate } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createAuthority } from '../../src/local/pki/certificate.ts';
import { findFreePort } from '../../src/os/net/ports.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { eventually } from './eventually.ts';
import { findProgram } from './node-kit/shell.ts';
import { tempFolder } from './temp.ts';

/** Why this machine has no registry; undefined if it has one. */
export const noRegistryReason: string | undefined =
  findProgram('docker-registry') === undefined
    ? 'a registry needs docker-registry: apt-get install docker-registry'
    : undefined;

export const READER = 'reader';
export const PASSWORD = 'secret-of-reader';
/** Made by bcrypt, the only form that the registry reads. */
const HTPASSWD = `${READER}:$2b$04$zhPycPyZM9xPKxtUEhlibegbNr2sO4LG0/cUSI9LaqOk0QxntWCYS\n`;

export const BASIC = Buffer.from(`${READER}:${PASSWORD}`).toString('base64');

export interface TestRegistry {
  /** Host and port. */
  readonly name: string;
  /** The requests to the server of tokens, with what they were authorized by. */
  readonly tokenRequests: { readonly query: string; readonly authorization: string | undefined }[];
  /** Pushes content, and returns its SHA-256 in hex. */
  pushBlob(repository: string, content: Uint8Array): Promise<string>;
  /** Pushes a manifest or an index, and returns its digest. */
  pushManifest(repository: string, document: object): Promise<string>;
  get(path: string): Promise<Response>;
}

export async function startRegistry(
  auth: 'None' | 'Basic' | 'Bearer' | 'Public' = 'None',
  /** 0.0.0.0 for real nodes. */
  bindAddress = '127.0.0.1',
): Promise<TestRegistry> {
  const folder = tempFolder('registry');
  const port = await findFreePort();
  const name = `127.0.0.1:${port}`;
  const hasTokens = ['Bearer', 'Public'].includes(auth);
  const tokens = hasTokens ? await startTokenServer(folder, name, auth === 'Public') : undefined;
  writeFileSync(join(folder, 'htpasswd'), HTPASSWD);
  mkdirSync(join(folder, 'data'));
  const config = {
    version: '0.1',
    log: { accesslog: { disabled: true }, level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') } },
    http: { addr: `${bindAddress}:${port}`, secret: 'registry' },
    ...(auth === 'Basic' && { auth: { htpasswd: { realm: 'test', path: join(folder, 'htpasswd') } } }),
    ...(tokens && { auth: { token: tokens.config } }),
  };
  // YAML contains JSON.
  writeFileSync(join(folder, 'config.yml'), JSON.stringify(config));
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  await eventually(
    async () =>
      await fetch(`http://${name}/v2/`).then(
        () => true,
        () => undefined,
      ),
    'the registry does not answer',
  );
  const authorization = (repository: string): string =>
    tokens ? `Bearer ${tokens.mint(`repository:${repository}:pull,push`)}` : `Basic ${BASIC}`;
  return {
    name,
    tokenRequests: tokens?.requests ?? [],
    get: (path) => fetch(`http://${name}${path}`, { headers: { authorization: authorization('any') } }),
    async pushBlob(repository, content) {
      const sha256 = createHash('sha256').update(content).digest('hex');
      const headers = { authorization: authorization(repository) };
      const base = `http://${name}/v2/${repository}/blobs/uploads/`;
      const { headers: answer } = await done(fetch(base, { method: 'POST', headers }));
      const upload = new URL(answer.get('location') ?? '', base);
      upload.searchParams.set('digest', `sha256:${sha256}`);
      await done(fetch(upload, { method: 'PUT', headers, body: content as Uint8Array<ArrayBuffer> }));
      return sha256;
    },
    async pushManifest(repository, document) {
      const body = JSON.stringify(document);
      const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`;
      const { mediaType } = document as { mediaType: string };
      const headers = { authorization: authorization(repository), 'content-type': mediaType };
      await done(
        fetch(`http://${name}/v2/${repository}/manifests/${digest}`, { method: 'PUT', headers, body }),
      );
      return digest;
    },
  };
}

async function done(answer: Promise<Response>): Promise<Response> {
  const response = await answer;
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${await response.text()}`);
  return response;
}

const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** Pushes an artifact with these layers, for one platform if it is named in an index. */
export async function pushArtifact(
  registry: TestRegistry,
  repository: string,
  layers: readonly Uint8Array[],
): Promise<{ readonly digest: string; readonly layers: readonly string[]; readonly size: number }> {
  const config = await registry.pushBlob(repository, Buffer.from('{}'));
  const pushed: string[] = [];
  for (const layer of layers) pushed.push(await registry.pushBlob(repository, layer));
  const document = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.empty.v1+json', digest: `sha256:${config}`, size: 2 },
    layers: pushed.map((sha256, index) => ({
      mediaType: LAYER,
      digest: `sha256:${sha256}`,
      size: layers[index]?.length,
    })),
  };
  const digest = await registry.pushManifest(repository, document);
  return { digest, layers: pushed, size: JSON.stringify(document).length };
}

export async function pushIndex(
  registry: TestRegistry,
  repository: string,
  entries: readonly { readonly digest: string; readonly size: number; readonly arch: string }[],
): Promise<string> {
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  return await registry.pushManifest(repository, {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: entries.map(({ digest, size, arch }) => ({
      mediaType,
      digest,
      size,
      platform: { os: 'linux', architecture: arch },
    })),
  });
}

/** Issues tokens as the registry requires them: signed by a certificate that it trusts, for one scope. */
async function startTokenServer(
  folder: string,
  service: string,
  isPublic: boolean,
): Promise<{
  readonly config: object;
  readonly requests: TestRegistry['tokenRequests'];
  mint(scope: string): string;
}> {
  const { certPem, keyPem } = createAuthority('tokens', createSystemClock().now(), 1);
  writeFileSync(join(folder, 'tokens.crt'), certPem);
  const requests: TestRegistry['tokenRequests'] = [];

  function mint(scope: string): string {
    const [type, name, actions = ''] = scope.split(':');
    const nowSeconds = Math.floor(createSystemClock().now().getTime() / 1000);
    const header = { typ: 'JWT', alg: 'ES256', x5c: [new X509Certificate(certPem).raw.toString('base64')] };
    const claims = {
      iss: 'tokens',
      sub: READER,
      aud: service,
      exp: nowSeconds + 300,
      nbf: nowSeconds - 10,
      iat: nowSeconds,
      jti: String(requests.length),
      access: [{ type, name, actions: actions.split(',') }],
    };
    const signed = [header, claims]
      .map((each) => Buffer.from(JSON.stringify(each)).toString('base64url'))
      .join('.');
    const signature = sign('sha256', Buffer.from(signed), {
      key: createPrivateKey(keyPem),
      dsaEncoding: 'ieee-p1363',
    });
    return `${signed}.${signature.toString('base64url')}`;
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    const { authorization } = request.headers;
    requests.push({ query: url.search, authorization });
    const scope = url.searchParams.get('scope') ?? '';
    const isKnown = authorization === `Basic ${BASIC}`;
    if (isKnown) response.end(JSON.stringify({ token: mint(scope) }));
    else if (authorization !== undefined || !isPublic) response.writeHead(401).end();
    else response.end(JSON.stringify({ token: mint(scope.replace(/:[^:]*$/, ':pull')) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const realm = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
  const config = { realm, service, issuer: 'tokens', rootcertbundle: join(folder, 'tokens.crt') };
  return { config, requests, mint };
}
