import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { tempFolder } from '../../../support/temp.ts';
import { type TestIo, testIo } from '../../../support/test-io.ts';

const AGENT = ['--agent-url', 'https://example.com/kubenode-agent', '--agent-sha256', '0'.repeat(64)];

function kubeconfig(server: string): string {
  const file = join(tempFolder('kubeconfig'), 'config');
  const text = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'c',
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'c', user: { token: 's3cret' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'c' } }],
  };
  writeFileSync(file, JSON.stringify(text));
  return file;
}

async function userdata(
  args: readonly string[],
  server = 'https://10.0.0.1:6443',
): Promise<{ readonly code: number; readonly io: TestIo }> {
  const io = testIo({ env: { KUBECONFIG: kubeconfig(server) } });
  const code = await runCommandLine(io, ['machine', 'userdata', ...AGENT, ...args]);
  return { code, io };
}

function bootstrapIn(stdout: string): unknown {
  const { files } = parse(stdout) as { readonly files: readonly { readonly content: string }[] };
  return JSON.parse(files[0]?.content ?? '');
}

describe('kubenode machine userdata --kubeadm', () => {
  it('CAP-19 prints the server and the file of the kubelet, and nothing of the user who runs it', async () => {
    const { code, io } = await userdata(['--kubeadm']);
    expect([code, io.stderr]).toEqual([0, '']);
    expect(io.stdout).not.toContain('s3cret');
    const pem = '/var/lib/kubelet/pki/kubelet-client-current.pem';
    expect(bootstrapIn(io.stdout)).toMatchObject({
      clusters: [{ cluster: { server: 'https://10.0.0.1:6443' } }],
      users: [{ user: { 'client-certificate': pem, 'client-key': pem } }],
    });
  });

  it('names the server as hosts reach it', async () => {
    const { io } = await userdata(
      ['--kubeadm', '--server', 'https://api.example.com:6443'],
      'http://127.0.0.1:8001',
    );
    expect(bootstrapIn(io.stdout)).toMatchObject({
      clusters: [{ cluster: { server: 'https://api.example.com:6443' } }],
    });
  });

  it.each([
    ['neither a Machine nor a template', [], 64, 'expected the name of a Machine, or --kubeadm'],
    ['a Machine and a template', ['n1', '--kubeadm'], 64, 'expected the name of a Machine, or --kubeadm'],
    ['a server for one Machine', ['n1', '--server', 'https://h'], 64, '--server is for --kubeadm only'],
    ['the life of a token for a template', ['--kubeadm', '--seconds', '60'], 64, 'cannot be used with'],
  ])('refuses %s', async (_, args, exitCode, message) => {
    const { code, io } = await userdata(args);
    expect([code, io.stdout]).toEqual([exitCode, '']);
    expect(io.stderr).toContain(message);
  });

  it('refuses a server without TLS, and names the option', async () => {
    const { code, io } = await userdata(['--kubeadm'], 'http://127.0.0.1:8001');
    expect([code, io.stdout]).toEqual([65, '']);
    expect(io.stderr).toMatch(/they connect by https:\/\/ only[^]*--server https:\/\/HOST:PORT/);
  });
});
