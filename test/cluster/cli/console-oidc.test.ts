/** `kubenode console --login oidc` beside an API server that knows the same issuer. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import { installation } from '../../../src/api/install/install.ts';
import { clusterRoleBinding } from '../../../src/api/roles/rbac.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { PAGE_FOLDER } from '../../../src/console/server/page-files.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { type CookieClient, createCookieClient } from '../../console/login/cookie-client.ts';
import { eventually } from '../../support/eventually.ts';
import { type OidcIssuer, startOidcIssuer } from '../../support/oidc-issuer.ts';
import { tempFolder } from '../../support/temp.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { firstState, signInAtIssuer } from './console-people.ts';
import { declareMachine, reportMachine } from './rollout-fixture.ts';

const BINDINGS: Resource = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  namespaced: false,
};
const clientId = 'kubenode-console';
const clientSecret = 'secret-of-the-client';

const folder = tempFolder('oidc');
let issuer: OidcIssuer;
let installed: InstalledServer;
let io: TestIo;
let url: string;
let ended: Promise<unknown>;

/** The API server and the console know the issuer by the same files. */
function writeFiles(): void {
  writeFileSync(join(folder, 'ca.crt'), issuer.caPem);
  writeFileSync(join(folder, 'client-secret'), `${clientSecret}\n`);
  const lines = [
    `issuer: ${issuer.url}`,
    `clientId: ${clientId}`,
    'clientSecretFile: client-secret',
    'caFile: ca.crt',
    'scopes: [groups]',
  ];
  writeFileSync(join(folder, 'oidc.yaml'), lines.join('\n'));
}

async function signIn(subject: string, groups: readonly string[]): Promise<CookieClient> {
  return await signInAtIssuer(url, issuer, subject, groups);
}

async function shows(client: CookieClient, isSo: (state: ConsoleState) => boolean): Promise<ConsoleState> {
  return await eventually(async () => {
    const state = await firstState(client);
    return state && isSo(state) ? state : undefined;
  }, 'the console does not show it');
}

const hasMachine = ({ machines }: ConsoleState): boolean =>
  Object.keys(machines).some((key) => key.endsWith('/m-1'));

describe('kubenode console --login oidc', () => {
  beforeAll(async () => {
    await buildConsolePage(fileURLToPath(PAGE_FOLDER));
    issuer = await startOidcIssuer({ clientId, clientSecret });
    writeFiles();
    installed = await startInstalledServer(installation(), {
      flags: [
        `--oidc-issuer-url=${issuer.url}`,
        `--oidc-client-id=${clientId}`,
        `--oidc-ca-file=${join(folder, 'ca.crt')}`,
        '--oidc-username-claim=sub',
        '--oidc-username-prefix=oidc:',
        '--oidc-groups-claim=groups',
        '--oidc-groups-prefix=oidc:',
      ],
    });
    const { client, kubeconfig } = installed.server;
    await declareMachine(client, 'm-1', { zone: 'a' });
    await reportMachine(client, 'm-1', { phase: 'Ready' });
    const group = { kind: 'Group', name: 'oidc:sre', apiGroup: BINDINGS.group } as const;
    await client.apply(BINDINGS, clusterRoleBinding('sre', 'kubenode-view', [group]), {
      fieldManager: 'kubectl',
    });
    io = testIo({ env: { KUBECONFIG: kubeconfig } });
    const args = ['console', '--port', '0', '--login', 'oidc', '--oidc', join(folder, 'oidc.yaml')];
    ended = runCommandLine(io, args);
    url = await eventually(
      () => Promise.resolve(/http:\S+/.exec(io.stdout)?.[0]),
      `the console does not start: ${io.stderr}`,
    );
  });
  afterAll(async () => {
    io?.interrupt();
    await ended;
    await installed?.stop();
    await issuer?.close();
  });

  beforeEach(() => {
    Object.assign(issuer, { faults: {}, isRenewing: false, tokenSeconds: 3600 });
  });

  it('CON-27 shows each person what the groups of this person may read', async () => {
    const viewer = await signIn('anna', ['sre']);
    const other = await signIn('ben', ['sales']);
    await shows(viewer, hasMachine);
    const session: unknown = JSON.parse((await viewer.send('/session')).body);
    expect(session).toMatchObject({ user: 'oidc:anna', groups: ['oidc:sre', 'system:authenticated'] });
    const part = await shows(other, ({ notes }) => Object.keys(notes).some((note) => /forbidden/.test(note)));
    expect(hasMachine(part)).toBe(false);
  });

  it('CON-27 renews a token that ends, and shows the machines all the time', async () => {
    issuer.isRenewing = true;
    issuer.tokenSeconds = 5;
    const person = await signIn('carl', ['sre']);
    await shows(person, hasMachine);
    const before = issuer.grants.length;
    await eventually(async () => {
      await shows(person, hasMachine);
      return (
        issuer.grants.slice(before).filter((grant) => grant.startsWith('refresh_token')).length >= 1 ||
        undefined
      );
    }, 'the token is not renewed');
    expect((await person.send('/session')).status).toBe(200);
  });

  it('CON-27 ends the session when the issuer does not renew the token', async () => {
    issuer.isRenewing = true;
    issuer.tokenSeconds = 5;
    const person = await signIn('dora', ['sre']);
    await shows(person, hasMachine);
    issuer.faults = { error: 'invalid_grant' };
    await eventually(async () => {
      const events = await person.events();
      events.close();
      return (await person.send('/session')).status === 401 || undefined;
    }, 'the session does not end');
    expect((await person.send('/login')).body).toContain('the API server does not accept your token');
  });

  it('CON-27 refuses a token for another client, which the API server would refuse, too', async () => {
    issuer.faults = { audience: 'another-client' };
    const client = createCookieClient(url);
    issuer.person = { subject: 'emil', groups: ['sre'] };
    const back = await issuer.signIn((await client.send('/login/oidc')).headers.location ?? '');
    expect((await client.send(`${back.pathname}${back.search}`)).status).toBe(403);
  });

  it('CON-21 has no token, code and secret in its output', async () => {
    issuer.isRenewing = true;
    const person = await signIn('fred', ['sre']);
    await shows(person, hasMachine);
    const texts = `${io.stdout}${io.stderr}`;
    expect(texts).toContain('signed in');
    expect(issuer.secrets.length).toBeGreaterThan(3);
    expect([...issuer.secrets, clientSecret].filter((secret) => texts.includes(secret))).toEqual([]);
  });
});
