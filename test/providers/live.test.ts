/** The contract suite on a real cloud, with KUBENODE_LIVE, and what it needs for that. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { tempFolder } from '../support/temp.ts';
import { CONFIG } from './azure/bed.ts';
import { liveContract } from './contract/live-contract.ts';
import { readLiveSettings } from './contract/live-settings.ts';
import { describeProviderContract } from './contract/suite.ts';

const AGENT = { url: 'https://example.com/kubenode-agent.gz', sha256: 'a'.repeat(64) };
const FILE = { agent: AGENT, shapes: { 'an instance': { config: CONFIG, zone: 'westeurope-1' } } };

function configFile(content: unknown): string {
  const path = join(tempFolder('live'), 'config.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('readLiveSettings', () => {
  it('asks for no real cloud by itself', () => {
    expect(readLiveSettings({ KUBENODE_LIVE_CONFIG: '/x' })).toBeUndefined();
  });

  it('reads the instances that a run creates', () => {
    const env = { KUBENODE_LIVE: 'azure', KUBENODE_LIVE_CONFIG: configFile(FILE) };
    expect(readLiveSettings(env)).toEqual({ ...FILE, provider: 'azure' });
  });

  it.each<[name: string, provider: string, content: unknown, reason: string]>([
    ['another provider', 'local', FILE, 'KUBENODE_LIVE: expected alibaba, aws, azure, got "local"'],
    ['a file that is not JSON', 'azure', '{', 'cannot be read as JSON'],
    ['no program', 'azure', { ...FILE, agent: undefined }, 'agent'],
    ['no instance', 'azure', { ...FILE, shapes: {} }, 'expected at least one'],
    ['a config of another cloud', 'aws', FILE, 'shape "an instance": spec.infra.config'],
  ])('refuses %s, and leaves no run out in silence', (_, provider, content, reason) => {
    const env = { KUBENODE_LIVE: provider, KUBENODE_LIVE_CONFIG: configFile(content) };
    expect(() => readLiveSettings(env)).toThrow(reason);
  });

  it('names the variable that is missing', () => {
    expect(() => readLiveSettings({ KUBENODE_LIVE: 'aws' })).toThrow(
      'KUBENODE_LIVE=aws needs KUBENODE_LIVE_CONFIG: name a file',
    );
    expect(() => readLiveSettings({ KUBENODE_LIVE: 'aws', KUBENODE_LIVE_CONFIG: '/no/file' })).toThrow(
      'KUBENODE_LIVE_CONFIG /no/file cannot be read',
    );
  });
});

/** A real cloud takes minutes for what our server does at once. */
const LIVE_TEST_MS = 3_600_000;

const live = readLiveSettings(process.env);
if (live) {
  vi.setConfig({ testTimeout: LIVE_TEST_MS, hookTimeout: LIVE_TEST_MS });
  describeProviderContract(liveContract(live, process.env));
}
