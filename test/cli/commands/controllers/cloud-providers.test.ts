import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  addCloudOptions,
  type CloudFlags,
  readCloudOptions,
} from '../../../../src/cli/commands/controllers/cloud-providers.ts';
import { testIo } from '../../../support/test-io.ts';

const SHA256 = 'a'.repeat(64);
const AGENT = ['--agent-url', 'https://example.com/agent', '--agent-sha256', SHA256];

function parsed(...args: readonly string[]): CloudFlags {
  const command = addCloudOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  return command.parse([...args], { from: 'user' }).opts();
}

describe('readCloudOptions', () => {
  it('opens the clouds that are named, with the program that their hosts download', () => {
    expect(readCloudOptions(testIo(), parsed('--provider', 'aws', ...AGENT), 'aws')).toMatchObject({
      agent: { url: 'https://example.com/agent', sha256: SHA256 },
    });
  });

  it('opens no cloud without the flag', () => {
    expect(readCloudOptions(testIo(), parsed(...AGENT), 'aws')).toBeUndefined();
  });

  it.each([
    [['--provider', 'aws']],
    [['--provider', 'aws', ...AGENT.slice(2)]],
    [['--provider', 'aws', ...AGENT.slice(0, 2)]],
  ])('asks for the program: %j', (args) => {
    expect(() => readCloudOptions(testIo(), parsed(...args), 'aws')).toThrow(
      '--provider aws needs the program that new hosts download',
    );
  });

  it.each([
    [['--provider', 'gcp'], 'Expected alibaba or aws or azure'],
    [['--agent-url', 'file:///agent'], 'Expected an http or https URL'],
    [['--agent-sha256', 'A'.repeat(64)], 'Expected 64 hexadecimal digits in lower case'],
  ])('refuses %j', (args, expected) => {
    expect(() => parsed(...args)).toThrow(expected);
  });
});
