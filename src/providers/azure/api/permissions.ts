/** Reads which actions Azure permits to the caller at a scope, and decides about one of them. */
import { z } from 'zod';
import { ProviderError } from '../../contract.ts';
import type { ArmApi } from './client.ts';
import { listPages } from './pages.ts';

const QUERY = { 'api-version': '2022-04-01' } as const;

const permission = z.object({
  actions: z.array(z.string()).default([]),
  notActions: z.array(z.string()).default([]),
});
/** Holds what one role permits. */
export type RolePermission = z.infer<typeof permission>;

/** Reads the permissions of all roles of the caller at a resource group or a resource. It needs `Microsoft.Authorization/permissions/read`. */
export async function readPermissions(
  api: ArmApi,
  scope: string,
  signal: AbortSignal,
): Promise<readonly RolePermission[]> {
  const path = `${scope}/providers/Microsoft.Authorization/permissions`;
  const entries = await listPages(api, { path, query: QUERY }, signal);
  return entries.map((entry) => {
    const { data } = permission.safeParse(entry);
    if (data) return data;
    throw new ProviderError('Retryable', 'the permissions of Azure cannot be read', { reason: 'BadAnswer' });
  });
}

/** Decides about one action. Another role may permit what one role excludes. Azure compares without case. */
export function isActionPermitted(action: string, permissions: readonly RolePermission[]): boolean {
  return permissions.some(
    ({ actions, notActions }) =>
      actions.some((each) => matches(action, each)) && !notActions.some((each) => matches(action, each)),
  );
}

/** A `*` of a role stands for any text. */
function matches(action: string, pattern: string): boolean {
  const source = pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, String.raw`\$&`).replaceAll('*', '.*');
  return new RegExp(`^${source}$`, 'i').test(action);
}
