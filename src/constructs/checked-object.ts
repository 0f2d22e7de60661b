/** What all constructs of our kinds share: an object that the API server would refuse never leaves the program. */
import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { type Candidate, type Problem, validate } from '../api/validation/validate.ts';
import { compile } from '../rules/compile.ts';
import { besideSchema } from '../rules/problems.ts';

export interface ObjectMetadata {
  /** Name of the object in the cluster: lower-case letters, digits, "-" and ".". */
  readonly name: string;
  /** What selectors match. */
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
    // At synth cdk8s gathers the problems of all constructs, each with its path, and fails once.
    this.node.addValidation({ validate: () => this.problems(super.toJson()) });
  }

  override toJson(): unknown {
    const json: unknown = super.toJson();
    const problems = this.problems(json);
    if (problems.length > 0) throw new Error(problems.join('\n'));
    return json;
  }

  /** A rule is compiled here. Its tests need the engine: `kubenode plan`, `kubenode validate` and sync run them. */
  private ruleProblems(json: unknown): readonly Problem[] {
    return this.kind === 'NodeRemedier' ? compile((json as { readonly spec?: unknown }).spec).problems : [];
  }

  private problems(json: unknown): string[] {
    const found = besideSchema(this.ruleProblems(json), validate(json as Candidate));
    return found.map(({ path, message }) => `${this.kind} ${this.name}: ${path}: ${message}`);
  }
}
