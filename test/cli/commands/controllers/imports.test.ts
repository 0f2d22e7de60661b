import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addHostImportOptions,
  importsOpener,
  programsFolder,
  requireTls,
} from '../../../../src/cli/commands/controllers/imports.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { openImportHosts } from '../../../../src/providers/ssh/import/open.ts';
import { tempFolder } from '../../../support/temp.ts';
import { testIo } from '../../../support/test-io.ts';

const CLIENT = {} as Client;

function built(): string {
  const folder = join(tempFolder('programs'), 'agent');
  mkdirSync(folder);
  writeFileSync(join(folder, 'programs.json'), '{}');
  return folder;
}

function parsed(...args: readonly string[]): object {
  const command = addHostImportOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return command.parse([...args], { from: 'user' }).opts();
}

describe('programsFolder', () => {
  it('is the one that is named, or that of a build', () => {
    const folder = built();
    expect([programsFolder({ agentPrograms: folder }), programsFolder({}, folder)]).toEqual([folder, folder]);
    expect(programsFolder({}, tempFolder('empty'))).toBeUndefined();
  });

  it('is refused without its list, with what to do', () => {
    expect(() => programsFolder({ agentPrograms: tempFolder('empty') })).toThrow(
      /^no programs of the agent in .*: programs\.json is missing$/,
    );
  });
});

describe('--server-for-hosts', () => {
  it('is the address of an API server', () => {
    expect(parsed('--server-for-hosts', 'https://api.example.com:6443/')).toEqual({
      serverForHosts: 'https://api.example.com:6443',
    });
  });

  it.each(['http://api.example.com', 'api.example.com', 'https://a@b', 'https://a/b', ''])(
    'refuses %j',
    (text) => {
      expect(() => parsed('--server-for-hosts', text)).toThrow('Expected https://HOST[:PORT]');
    },
  );
});

describe('importsOpener', () => {
  it('opens the hosts of imports with the client of the machine controller', async () => {
    const io = testIo();
    const parts = await importsOpener(io, { agentPrograms: built() }, {})(CLIENT);
    expect(parts).toMatchObject({ client: CLIENT, clock: io.clock });
    expect(Object.keys(parts?.hosts ?? {})).toEqual(
      Object.keys(openImportHosts({ programs: '', clock: io.clock })),
    );
  });
});

describe('requireTls', () => {
  it('refuses an API server without TLS for hosts, with what to do', () => {
    expect(requireTls('https://10.0.0.1:6443')).toBe('https://10.0.0.1:6443');
    expect(() => requireTls('http://10.0.0.1:8080')).toThrow(
      expect.objectContaining({
        code: 'ServerWithoutTLS',
        message: 'agents cannot use the API server http://10.0.0.1:8080: they connect by https:// only',
        hint: expect.stringContaining('--server-for-hosts') as string,
      }) as Error,
    );
  });

  it('fails the import of a host, not the controllers, when the kubeconfig names such a server', async () => {
    const kubeconfig = join(tempFolder('kubeconfig'), 'config');
    const cluster = { name: 'c', cluster: { server: 'http://10.0.0.1:8080' } };
    const context = { name: 'x', context: { cluster: 'c', user: 'u' } };
    const config = { clusters: [cluster], contexts: [context], users: [{ name: 'u', user: {} }] };
    writeFileSync(kubeconfig, JSON.stringify({ ...config, 'current-context': 'x' }));
    const open = importsOpener(testIo(), { agentPrograms: built() }, { kubeconfig });
    await expect((await open(CLIENT))?.access()).rejects.toMatchObject({ code: 'ServerWithoutTLS' });
  });
});
