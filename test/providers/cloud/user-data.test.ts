import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type AgentDownload, formatUserData } from '../../../src/providers/cloud/user-data.ts';
import { tempFolder } from '../../support/temp.ts';

const missing = spawnSync('cloud-init', ['--version']).error && 'cloud-init is not installed';
if (missing) process.stderr.write(`skipped: ${missing}\n`);

const PROGRAM = '#!/bin/sh\nprintf "%s\\n" "$@" > "$OUT"\n';
const OPTIONS = {
  machine: 'n1',
  bootstrap: '{"token":"s3cret"}',
  agent: {
    url: 'https://example.com/kubenode-agent',
    sha256: createHash('sha256').update(PROGRAM).digest('hex'),
  },
};

interface CloudConfig {
  readonly write_files: readonly { readonly permissions: string; readonly content: string }[];
  readonly runcmd: readonly (readonly string[])[];
}

function config(agent: Partial<AgentDownload> = {}): CloudConfig {
  return parse(formatUserData({ ...OPTIONS, agent: { ...OPTIONS.agent, ...agent } })) as CloudConfig;
}

/** Runs the command of the document with a curl that serves the program, below a folder instead of /root. */
function runCommands(
  agent: Partial<AgentDownload> = {},
  served: string | Buffer = PROGRAM,
): {
  readonly code: number | null;
  readonly args: string;
} {
  const folder = tempFolder('cloud');
  const [bin, out] = [join(folder, 'bin'), join(folder, 'out')];
  mkdirSync(bin);
  writeFileSync(join(folder, 'served'), served);
  const curl = `#!/bin/sh\nfor each in "$@"; do [ "$last" = --output ] && cp "${folder}/served" "$each"; last=$each; done\n`;
  writeFileSync(join(bin, 'curl'), curl);
  chmodSync(join(bin, 'curl'), 0o755);
  const [[program = '', ...args] = []] = config(agent).runcmd;
  const here = args.map((word) => word.replace('mktemp -d /root/', `mktemp -d ${folder}/`));
  const env = { PATH: `${bin}:${process.env['PATH']}`, OUT: out };
  const { status } = spawnSync(program, here, { env });
  return { code: status, args: status === 0 ? readFileSync(out, 'utf8') : '' };
}

describe('formatUserData', () => {
  it('writes the token to one file that root alone reads', () => {
    const { write_files: files, runcmd } = config();
    expect(files).toMatchObject([{ permissions: '0600', content: '{"token":"s3cret"}\n' }]);
    expect(JSON.stringify(runcmd)).not.toContain('s3cret');
  });

  it('MAC-12 gives values as arguments, and never as code', () => {
    const url = 'https://example.com/$(reboot)/"; reboot; "';
    const { runcmd } = config({ url });
    expect(runcmd[0]?.[2]).toBe(config().runcmd[0]?.[2]);
    expect(runcmd[0]?.slice(4)).toEqual([
      url,
      OPTIONS.agent.sha256,
      '--machine',
      'n1',
      '--bootstrap',
      '/etc/kubenode/bootstrap.json',
    ]);
  });

  it('runs the program that it downloaded, and only with the right checksum', () => {
    expect(runCommands()).toEqual({
      code: 0,
      args: 'install\n--machine\nn1\n--bootstrap\n/etc/kubenode/bootstrap.json\n',
    });
    expect(runCommands({ sha256: '0'.repeat(64) })).toEqual({ code: 1, args: '' });
  });

  it.each(['kubenode-agent.gz', 'kubenode-agent.gz?token=a/b.c', 'kubenode-agent.gz#amd64'])(
    'unpacks a compressed program: %s',
    (name) => {
      const served = gzipSync(PROGRAM);
      const sha256 = createHash('sha256').update(served).digest('hex');
      const ran = runCommands({ url: `https://example.com/${name}`, sha256 }, served);
      expect(ran).toMatchObject({ code: 0, args: expect.stringContaining('install\n') as string });
    },
  );

  it('does not unpack a program whose URL has .gz after its path', () => {
    expect(runCommands({ url: 'https://example.com/kubenode-agent?for=a.gz' })).toMatchObject({
      code: 0,
    });
  });

  it.skipIf(missing)(`is valid by the schema of cloud-init${missing ? ` (${missing})` : ''}`, () => {
    const file = join(tempFolder('cloud'), 'user-data');
    writeFileSync(file, formatUserData(OPTIONS));
    const { status, stdout } = spawnSync('cloud-init', ['schema', '--config-file', file], {
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, expect.stringContaining('Valid')]);
  });
});
