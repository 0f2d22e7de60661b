/** Reads how the contract suite runs on a real cloud: KUBENODE_LIVE names the provider, and KUBENODE_LIVE_CONFIG a file. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { CLOUDS, type Cloud, PROVIDER_REGISTRY } from '../../../src/providers/registry.ts';

export interface LiveSettings extends z.infer<typeof file> {
  readonly provider: Cloud;
}

const shape = z.strictObject({
  config: z.record(z.string(), z.unknown()),
  zone: z.string().optional(),
});

const file = z.strictObject({
  agent: z.strictObject({
    url: z.url({ protocol: /^https?$/ }),
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  /** The instances that are created, each with a title. Each costs money. */
  shapes: z.record(z.string(), shape).refine((all) => Object.keys(all).length > 0, 'expected at least one'),
});

type Env = Readonly<Record<string, string | undefined>>;

/** Undefined: no run was asked for. Throws when something is missing: a run that was asked for must not be left out in silence. */
export function readLiveSettings(env: Env): LiveSettings | undefined {
  const name = env['KUBENODE_LIVE'];
  if (!name) return undefined;
  const provider = CLOUDS.find((each) => each === name);
  const got = JSON.stringify(name);
  if (!provider) throw new Error(`KUBENODE_LIVE: expected ${CLOUDS.join(', ')}, got ${got}`);
  const path = env['KUBENODE_LIVE_CONFIG'];
  const hint = 'name a file, see docs/reference/providers/live-clouds.md';
  if (!path) throw new Error(`KUBENODE_LIVE=${provider} needs KUBENODE_LIVE_CONFIG: ${hint}`);
  const parsed = file.safeParse(readJson(path));
  if (!parsed.success) throw new Error(`KUBENODE_LIVE_CONFIG ${path}: ${z.prettifyError(parsed.error)}`);
  for (const [title, each] of Object.entries(parsed.data.shapes)) {
    const reason = PROVIDER_REGISTRY[provider].configReason({ ...shapeOf(each), host: 'systemd' });
    if (reason !== undefined) throw new Error(`KUBENODE_LIVE_CONFIG ${path}: shape "${title}": ${reason}`);
  }
  return { ...parsed.data, provider };
}

export function shapeOf({ config, zone }: z.infer<typeof shape>): {
  readonly config: typeof config;
  readonly zone?: string;
} {
  return { config, ...(zone === undefined ? {} : { zone }) };
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`KUBENODE_LIVE_CONFIG ${path} cannot be read as JSON`, { cause: error });
  }
}
