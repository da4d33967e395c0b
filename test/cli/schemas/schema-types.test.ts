import { expectTypeOf } from 'expect-type';
import { type z } from 'zod';
import { type CreatePolicy } from '../../../src/domain/create-policy';
import { type ModelConfiguration } from '../../../src/domain/model-config';
import { type createPolicySchema } from '../../../src/settings/config';
import { type modelConfigurationSchema } from '../../../src/settings/model-schema';

/** The same type without readonly, and in one piece: a schema writes no intersections. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]: Plain<T[Name]> }
    : T;

test('what a reader takes is equal to the type of the domain: a new or changed field does not compile', () => {
  expectTypeOf<Plain<z.infer<typeof modelConfigurationSchema>>>().toEqualTypeOf<Plain<ModelConfiguration>>();
});

test('optional knobs: what a reader lets pass is the type', () => {
  expectTypeOf<keyof z.infer<typeof createPolicySchema>>().toEqualTypeOf<keyof CreatePolicy>();
  expectTypeOf<CreatePolicy>().toExtend<z.infer<typeof createPolicySchema>>();
});
