import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { formatKubeadmData } from '../../../src/providers/cloud/kubeadm-data.ts';
import { tempFolder } from '../../support/temp.ts';

const PROGRAM = '#!/bin/sh\nprintf "%s\\n" "$@" > "$OUT"\n';
const SHA256 = createHash('sha256').update(PROGRAM).digest('hex');
const URL = 'https://example.com/kubenode-agent';

interface KubeadmData {
  readonly files: readonly {
    readonly path: string;
    readonly permissions: string;
    readonly content: string;
  }[];
  readonly postKubeadmCommands: readonly string[];
}

function dataFor(url: string, sha256 = SHA256): { readonly text: string; readonly data: KubeadmData } {
  const text = formatKubeadmData({ bootstrap: '{"users":[]}', agent: { url, sha256 } });
  return { text, data: parse(text) as KubeadmData };
}

/** Runs the command with its script below a folder, and a curl that serves the program. */
function runCommand(url: string, sha256 = SHA256): { readonly code: number | null; readonly args: string } {
  const { data } = dataFor(url, sha256);
  const folder = tempFolder('kubeadm');
  const [bin, out, script] = [join(folder, 'bin'), join(folder, 'out'), join(folder, 'install-agent.sh')];
  mkdirSync(bin);
  writeFileSync(join(folder, 'served'), PROGRAM);
  const curl = `#!/bin/sh\nfor each in "$@"; do [ "$last" = --output ] && cp "${folder}/served" "$each"; last=$each; done\nprintf %s "$last" > "${folder}/asked"\n`;
  writeFileSync(join(bin, 'curl'), curl);
  chmodSync(join(bin, 'curl'), 0o755);
  const [, file] = data.files;
  writeFileSync(script, (file?.content ?? '').replace('mktemp -d /root/', `mktemp -d ${folder}/`));
  const [command = ''] = data.postKubeadmCommands;
  const env = { PATH: `${bin}:${process.env['PATH']}`, OUT: out };
  const { status } = spawnSync('sh', ['-c', command.replace(file?.path ?? '', script)], { env });
  if (status !== 0) return { code: status, args: '' };
  return {
    code: status,
    args: `${readFileSync(join(folder, 'asked'), 'utf8')}\n${readFileSync(out, 'utf8')}`,
  };
}

describe('formatKubeadmData', () => {
  it('CAP-19 installs the agent for the Node of the kubelet, with no name and no secret in the template', () => {
    expect(runCommand(URL)).toEqual({
      code: 0,
      args: `${URL}\ninstall\n--bootstrap\n/etc/kubenode/bootstrap.json\n`,
    });
    expect(dataFor(URL).data.files[0]).toMatchObject({
      path: '/etc/kubenode/bootstrap.json',
      permissions: '0644',
      content: '{"users":[]}\n',
    });
  });

  it('runs nothing with another checksum', () => {
    expect(runCommand(URL, '0'.repeat(64))).toEqual({ code: 1, args: '' });
  });

  it.each([
    ['$(reboot)', 'https://example.com/$(reboot)'],
    ["a'; reboot; '", 'https://example.com/a%27; reboot; %27'],
    ['{{ ds.meta_data }}', 'https://example.com/%7B%7B ds.meta_data }}'],
  ])('gives the URL as one argument, which neither a shell nor Jinja evaluates: %s', (path, expected) => {
    expect(runCommand(`https://example.com/${path}`).args.split('\n')[0]).toBe(expected);
    // Cluster API adds `## template: jinja`, and its delimiters would be replaced on the host.
    expect(dataFor(`https://example.com/${path}`).text).not.toMatch(/\{[{%#]/);
  });
});
