import { describe, expect, it } from 'vitest';
import { checkFlags, type ImportFlags, parseServer } from '../../../../src/cli/commands/import/options.ts';
import { runCommandLine } from '../../../../src/cli/run.ts';
import { testIo } from '../../../support/test-io.ts';

const FLAGS: ImportFlags = { user: 'root', port: 22, secret: 'ssh', timeout: 30, wait: 600 };

describe('checkFlags', () => {
  it.each<[string, readonly string[], Partial<ImportFlags>, string]>([
    ['no host', [], {}, 'no host is given'],
    ['a passphrase without a key', ['n1'], { passphraseFile: 'x' }, '--passphrase-file is for a private key'],
    ['Machines as a table', ['n1'], { output: 'table' }, 'Machines are not printed as a table'],
    [
      'a report as TypeScript',
      ['n1'],
      { output: 'typescript', dryRun: true },
      'the report of --dry-run is not TypeScript',
    ],
    ['a dry run that applies', ['n1'], { apply: true, dryRun: true }, '--dry-run changes nothing'],
    [
      'Machines as YAML that are applied',
      ['n1'],
      { apply: true, output: 'yaml' },
      '--apply prints the progress, not Machines',
    ],
    ['a Secret of a dry run', ['n1'], { createSecret: true, dryRun: true }, '--dry-run changes nothing'],
    [
      'too many skipped checks',
      ['n1'],
      { skipCheck: Array.from({ length: 17 }, String) },
      'more than 16 checks are skipped',
    ],
  ])('refuses %s', (_, hosts, flags, message) => {
    expect(() => checkFlags(hosts, { ...FLAGS, ...flags })).toThrow(
      expect.objectContaining({ message, exitCode: 64 }),
    );
  });

  it('accepts hosts, or a file', () => {
    expect(() => checkFlags(['n1'], FLAGS)).not.toThrow();
    expect(() => checkFlags([], { ...FLAGS, from: 'hosts.yaml' })).not.toThrow();
  });
});

describe('parseServer', () => {
  it.each([
    ['https://api.example.com:6443', { host: 'api.example.com', port: 6443 }],
    ['https://api.example.com', { host: 'api.example.com', port: 443 }],
    ['https://[fd00::1]:6443', { host: 'fd00::1', port: 6443 }],
  ])('reads %s', (text, expected) => {
    expect(parseServer(text)).toEqual(expected);
  });

  it.each(['http://api.example.com', 'api.example.com', 'https://', ''])('refuses %j', (text) => {
    expect(() => parseServer(text)).toThrow('Expected a URL that begins with https://');
  });
});

describe('the options of kubenode import', () => {
  it.each([
    [['--skip-check', 'Swop'], 'Expected one of Sudo, OperatingSystem'],
    [['--user', 'a b'], 'expected a user of letters'],
    [['--via', '-oProxyCommand=x'], 'expected a host name or an IP address'],
    [['--label', 'pool'], 'expected KEY=VALUE, got "pool"'],
    [['--label', 'a b=c'], 'expected a key such as team or example.com/team'],
    [['--label', 'kubenode.dev/x=1'], 'labels that begin with kubenode.dev/ are set by kubenode itself'],
    [['--secret', 'SSH key'], 'expected lower-case letters'],
    [['--port', '0'], 'Expected an integer from 1 to 65535'],
    [['--server', 'http://x'], 'Expected a URL that begins with https://'],
    [['--timeout', '0s'], 'Expected a number with s, m, h or d'],
  ])('%j are refused', async (args, message) => {
    const io = testIo();
    expect(await runCommandLine(io, ['import', 'n1', ...args])).toBe(64);
    expect(io.stderr).toContain(message);
  });
});
