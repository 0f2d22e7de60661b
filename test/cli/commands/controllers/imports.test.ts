import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addHostImportOptions,
  importsOpener,
  programsFolder,
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
