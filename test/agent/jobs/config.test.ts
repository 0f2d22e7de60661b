import { describe, expect, it } from 'vitest';
import {
  DEFAULT_JOBS_CONFIG,
  parseJobsConfig,
  permitsOf,
  readJobsConfig,
} from '../../../src/agent/jobs/config.ts';

/** With nodefs and imagefs, one too many. */
const SEVEN = ['/a', '/b', '/c', '/d', '/e', '/f', '/g'];

describe('what the host permits to repair jobs', () => {
  it('is the default without a file', async () => {
    expect(await readJobsConfig({ read: async () => undefined })).toBe(DEFAULT_JOBS_CONFIG);
  });

  it('replaces single fields', () => {
    const profiles = { gpu: { commands: { 'gpu.txt': ['nvidia-smi'] } } };
    const found = parseJobsConfig({ services: [], profiles, clean: { coreDumps: ['/cores'] } });
    expect(found).toMatchObject({
      services: [],
      restartsPerHour: 3,
      profiles: { default: DEFAULT_JOBS_CONFIG.profiles['default'], gpu: { ...profiles.gpu, files: [] } },
      clean: { rotatedLogs: ['/var/log'], coreDumps: ['/cores'] },
    });
    expect(parseJobsConfig({ filesystems: { imagefs: ['/data'], '/var/log': ['/var/log'] } })).toMatchObject({
      filesystems: { nodefs: ['/var/lib/kubelet'], imagefs: ['/data'], '/var/log': ['/var/log'] },
    });
  });

  it.each<[string, unknown]>([
    ['services', { services: 'kubelet' }],
    ['services', { services: [''] }],
    ['service', { service: ['kubelet'] }],
    ['__proto__', JSON.parse('{"__proto__": {"services": ["sshd"]}}')],
    ['restartsPerHour', { restartsPerHour: -1 }],
    ['detector', { detector: '' }],
    ['profiles', { profiles: { default: { commands: { '../a': ['id'] } } } }],
    ['profiles', { profiles: { default: { commands: { 'a.txt': 'rm -rf /' } } } }],
    ['profiles', { profiles: { default: { shell: 'id' } } }],
    ['clean', { clean: { rotatedLogs: ['/'] } }],
    ['clean', { clean: { rotatedLogs: ['/var/log/../../etc'] } }],
    ['clean', { clean: { rotatedLogs: ['logs'] } }],
    ['clean', { clean: { everything: ['/tmp'] } }],
    ['filesystems', { filesystems: { datafs: ['/data'] } }],
    ['filesystems', { filesystems: { imagefs: '/data' } }],
    ['filesystems', { filesystems: { imagefs: ['/data/../etc'] } }],
    ['filesystems', { filesystems: Object.fromEntries(SEVEN.map((path) => [path, [path]])) }],
  ])('refuses a wrong field %s: %j', (field, config) => {
    expect(parseJobsConfig(config)).toBe(
      `/etc/kubenode/jobs.json: the field ${field} is unknown or has a wrong value`,
    );
  });

  it('is reported sorted, each name once, and only what a rule can ask for', () => {
    const services = ['web', 'kubelet', 'web', 'x'.repeat(64)];
    expect(permitsOf({ ...DEFAULT_JOBS_CONFIG, services })).toEqual({
      services: ['kubelet', 'web'],
      profiles: ['default'],
    });
    const many = Array.from({ length: 70 }, (_, index) => `service-${index}`);
    expect(permitsOf({ ...DEFAULT_JOBS_CONFIG, services: many }).services).toHaveLength(64);
  });

  it('refuses a file that is not a JSON object', async () => {
    expect(parseJobsConfig([])).toBe('/etc/kubenode/jobs.json is not an object');
    const content = new TextEncoder().encode('{');
    expect(await readJobsConfig({ read: async () => content })).toContain(
      '/etc/kubenode/jobs.json is not JSON',
    );
  });
});
