/** Tells what is wrong in `spec.infra.config`, by the schema of a provider. Pure. */
import type { z } from 'zod';
import type { InstanceShape } from '../contract.ts';

/** Returns why the shape is refused, with the path of the field; undefined: accepted. An empty config asks for no instance. */
export function cloudConfigReason(
  provider: string,
  schema: z.ZodType,
  { config, host, zone }: InstanceShape,
): string | undefined {
  if (Object.keys(config).length === 0) return undefined;
  const issue = schema.safeParse(config).error?.issues[0];
  if (issue) return `spec.infra.config${pathOf(issue)}: ${issue.message}`;
  if (host !== 'systemd') return `spec.host.type: expected systemd for provider ${provider}, got ${host}`;
  return zone === undefined || zone.length <= 63 ? undefined : 'spec.zone: expected at most 63 characters';
}

function pathOf({ path }: { readonly path: readonly PropertyKey[] }): string {
  return path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
}
