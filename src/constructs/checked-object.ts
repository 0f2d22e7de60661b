/** The base of all constructs of our kinds: objects that the API server would refuse fail the synth. */
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { type Candidate, type Problem, validate } from '../api/validation/validate.ts';
import { compileRule } from '../rules/compile.ts';
import { mergeProblems } from '../rules/problems.ts';

export interface ObjectMetadata {
  /** Name of the object in the cluster: lower-case letters, digits, "-" and ".". */
  readonly name: string;
  /** Labels, which selectors match. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

interface CheckedObjectProps {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMetadata;
  readonly spec: object;
}

export class CheckedObject extends ApiObject {
  constructor(scope: Construct, id: string, { metadata, ...props }: CheckedObjectProps) {
    const { finalizers, ...rest } = metadata;
    super(scope, id, { ...props, metadata: { ...rest, ...(finalizers && { finalizers: [...finalizers] }) } });
    // At synth, cdk8s collects the problems of all constructs with their paths, then fails once.
    this.node.addValidation({ validate: () => this.findProblems(super.toJson()) });
  }

  override toJson(): unknown {
    const json: unknown = super.toJson();
    const problems = this.findProblems(json);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return json;
  }

  /** Compiles a rule, without its tests: `kubenode plan`, `kubenode validate` and sync run these. */
  private compileProblems(json: unknown): readonly Problem[] {
    return this.kind === 'NodeRemedier'
      ? compileRule((json as { readonly spec?: unknown }).spec).problems
      : [];
  }

  private findProblems(json: unknown): string[] {
    const all = mergeProblems(this.compileProblems(json), validate(json as Candidate));
    return all.map(({ path, message }) => `${this.kind} ${this.name}: ${path}: ${message}`);
  }
}
