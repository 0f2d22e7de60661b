/** The explanations why a unit with a ServiceAccount is not written, each with the command that ends it. Pure. */
import { NAMESPACE, PRINCIPAL_SYNC } from '../../../api/names.ts';
import { truncate } from '../../../kube/objects/truncate.ts';
import type { MissingAccess } from './access-reviews.ts';
import { accountText, type UnitAccount } from './unit-identities.ts';

interface Unit {
  readonly unit: string;
  readonly account: UnitAccount;
}

/** All verbs of one resource in one namespace. */
interface Grant extends Omit<MissingAccess, 'verb'> {
  readonly verbs: readonly string[];
}

const MAX_LISTED = 3;
/** Two answers of a server fit into a message of a status. */
const MAX_ANSWER = 200;

export function missingAccessText({ unit, account }: Unit, missing: readonly MissingAccess[]): string {
  const grants = grantsFor(missing);
  const listed = grants.slice(0, MAX_LISTED).map(grantText).join(', ');
  const more = grants.length > MAX_LISTED ? ` and ${grants.length - MAX_LISTED} more` : '';
  const [first] = grants;
  const hint = first ? `. Run: ${grantCommand(unit, account, first)}` : '';
  const rest = grants.length > 1 ? ', and the same for the others' : '';
  return `nothing of unit ${unit} is written: ServiceAccount ${accountText(account)} may not ${listed}${more}${hint}${rest}`;
}

function grantsFor(missing: readonly MissingAccess[]): readonly Grant[] {
  const groups = Map.groupBy(missing, ({ resource, namespace }) => JSON.stringify([resource, namespace]));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { resource, namespace } = first;
    return [{ resource, namespace, verbs: [...new Set(group.map(({ verb }) => verb))] }];
  });
}

function grantText({ verbs, resource, namespace }: Grant): string {
  return `${verbs.join(', ')} ${resource}${namespace === '' ? '' : ` in namespace ${namespace}`}`;
}

function grantCommand(unit: string, { namespace, name }: UnitAccount, grant: Grant): string {
  const kind = grant.namespace === '' ? 'clusterrole' : 'role';
  const where = grant.namespace === '' ? '' : ` -n ${grant.namespace}`;
  // A name for each grant: the role of an earlier grant exists already.
  const role = `kubenode-unit-${unit}-${grant.verbs.join('-')}-${grant.resource}`;
  return (
    `kubectl create ${kind} ${role}${where} --verb=${grant.verbs.join(',')} --resource=${grant.resource} && ` +
    `kubectl create ${kind}binding ${role}${where} --${kind}=${role} --serviceaccount=${namespace}:${name}`
  );
}

/** Sync may not act as the account: a person grants that for this one account, in its namespace. */
export function impersonationText({ unit, account }: Unit, answer: string): string {
  const { namespace, name } = account;
  const role = `kubenode-sync-as-${name}`;
  return (
    `nothing of unit ${unit} is written: sync may not act as ServiceAccount ${accountText(account)}. Run: ` +
    `kubectl create role ${role} -n ${namespace} --verb=impersonate --resource=serviceaccounts --resource-name=${name} && ` +
    `kubectl create rolebinding ${role} -n ${namespace} --role=${role} --serviceaccount=${NAMESPACE}:${PRINCIPAL_SYNC}. ` +
    truncate(answer, MAX_ANSWER)
  );
}

export function missingAccountText({ unit, account }: Unit): string {
  const { namespace, name } = account;
  return (
    `nothing of unit ${unit} is written: ServiceAccount ${accountText(account)} not found. ` +
    `Run: kubectl create serviceaccount ${name} -n ${namespace}, or correct spec.identities of the Pipeline`
  );
}

export function gitOnlyText({ unit, account }: Unit, object: string): string {
  return (
    `nothing of unit ${unit} is written: only ${PRINCIPAL_SYNC} may write ${object}, and spec.identities of the Pipeline names ` +
    `${accountText(account)}. Move the object to a unit without an identity`
  );
}

export function unknownAccessText({ unit, account }: Unit, why: string): string {
  return `nothing of unit ${unit} is written: it is unknown what ServiceAccount ${accountText(account)} may do: ${truncate(why, MAX_ANSWER)}`;
}
