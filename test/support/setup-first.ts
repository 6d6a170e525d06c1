// The order of test files: the set-up's first, which mostly waits for downloads and would else end long after all others.
import { BaseSequencer, type TestSpecification } from 'vitest/node';

export class SetupFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSetup = ({ moduleId }: TestSpecification) => moduleId.includes('/test/setup/');
    return [...sorted.filter(isSetup), ...sorted.filter((file) => !isSetup(file))];
  }
}
