/** Finds the deprecated APIs that clients of an API server have requested, by its metrics. Pure. */
import type { DeprecatedApi } from '../../../api/generated/types.ts';
import { byCode } from '../../../kube/objects/digest.ts';

const SAMPLE = /^apiserver_requested_deprecated_apis\{(?<labels>[^}\n]*)\} (?<value>\S+)$/gm;
const LABEL = /(?<name>[a-z_]+)="(?<value>[^"]*)"/g;
const MINOR = /^\d+\.\d+$/;
/** Bounds the status. Kubernetes 1.25 removed twelve at once. */
const MAX_APIS = 20;

/** The server counts from its own start on. What has no release that removes it is deprecated, and stays. */
export function deprecatedApis(metrics: string): readonly DeprecatedApi[] {
  const found = [...metrics.matchAll(SAMPLE)].flatMap(({ groups }) =>
    Number(groups?.['value']) > 0 ? toApi(groups?.['labels'] ?? '') : [],
  );
  const unique = new Map(found.map((each) => [each.api, each]));
  return [...unique.values()].toSorted((a, b) => byCode(a.api, b.api)).slice(0, MAX_APIS);
}

function toApi(text: string): readonly DeprecatedApi[] {
  const labels = new Map(
    [...text.matchAll(LABEL)].map(({ groups }) => [groups?.['name'] ?? '', groups?.['value'] ?? '']),
  );
  const label = (name: string): string => labels.get(name) ?? '';
  const removedIn = label('removed_release');
  if (!MINOR.test(removedIn)) return [];
  const group = label('group') === '' ? '' : `${label('group')}/`;
  return [{ api: `${group}${label('version')} ${label('resource')}`.slice(0, 253), removedIn }];
}
