//===- ModuleRequirements.cpp - Declarations of a module ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/IR/Tessera.h"
#include "Kernels.h"
#include "Target/KernelFacts.h"
#include "Target/MatrixFunctions.h"

#include "mlir/Dialect/SPIRV/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::tessera;

spirv::TargetEnvAttr
mlir::tessera::getTargetEnv(MLIRContext *context,
                            const SpirvEnvironment &environment) {
  using C = spirv::Capability;
  using E = spirv::Extension;
  SmallVector<C> capabilities = {C::Matrix,
                                 C::Int8,
                                 C::Int16,
                                 C::Int64,
                                 C::Float16,
                                 C::Float64,
                                 C::GroupNonUniform,
                                 C::GroupNonUniformShuffle,
                                 C::GroupNonUniformShuffleRelative,
                                 C::AtomicFloat32AddEXT,
                                 C::AtomicFloat64AddEXT,
                                 C::Int64Atomics,
                                 C::CooperativeMatrixKHR,
                                 C::BFloat16TypeKHR,
                                 C::BFloat16CooperativeMatrixKHR};
  SmallVector<E> extensions = {E::SPV_KHR_cooperative_matrix,
                               E::SPV_EXT_shader_atomic_float_add,
                               E::SPV_KHR_bfloat16};
  if (environment.isKernel) {
    capabilities.append({C::Kernel, C::Addresses, C::Vector16,
                         C::SubgroupDispatch, C::Linkage,
                         C::TensorFloat32RoundingINTEL});
    extensions.push_back(E::SPV_INTEL_tensor_float32_conversion);
  } else {
    capabilities.append(
        {C::Shader, C::StorageBuffer16BitAccess, C::StorageBuffer8BitAccess,
         C::UniformAndStorageBuffer8BitAccess, C::StoragePushConstant8,
         C::StoragePushConstant16, C::StorageUniform16,
         C::SignedZeroInfNanPreserve, C::PhysicalStorageBufferAddresses,
         C::VulkanMemoryModel, C::VulkanMemoryModelDeviceScope});
    extensions.append({E::SPV_KHR_storage_buffer_storage_class,
                       E::SPV_KHR_16bit_storage, E::SPV_KHR_8bit_storage,
                       E::SPV_KHR_physical_storage_buffer,
                       E::SPV_KHR_vulkan_memory_model});
  }
  auto triple = spirv::VerCapExtAttr::get(spirv::Version::V_1_6, capabilities,
                                          extensions, context);
  return spirv::TargetEnvAttr::get(
      triple, spirv::getDefaultResourceLimits(context), environment.api);
}

/// Whether a kernel requests registers, for which SPIR-V 1.4 has a
/// decoration.
static bool hasRequest(spirv::ModuleOp module) {
  return llvm::any_of(module.getOps<spirv::FuncOp>(),
                      [](spirv::FuncOp function) {
                        return function->hasAttr(
                            TesseraDialect::RegistersAttrHelper::getNameStr());
                      });
}

bool mlir::tessera::isEntryPoint(spirv::FuncOp function) {
  return !function.isExternal() &&
         !function.getName().starts_with(matrix_functions::elementPrefix);
}

void mlir::tessera::addInterfaces(spirv::ModuleOp module,
                                  const SpirvEnvironment &environment) {
  OpBuilder b(module.getContext());
  for (auto function : llvm::to_vector(module.getOps<spirv::FuncOp>())) {
    if (!isEntryPoint(function))
      continue;
    llvm::SetVector<Attribute> variables;
    function.walk([&](spirv::AddressOfOp op) {
      auto type = cast<spirv::PointerType>(op.getType());
      // From SPIR-V 1.4 on all that is used.
      if (environment.isKernel && !hasRequest(module) &&
          type.getStorageClass() != spirv::StorageClass::Input)
        return;
      variables.insert(SymbolRefAttr::get(op.getContext(), op.getVariable()));
    });
    b.setInsertionPointAfter(function);
    spirv::EntryPointOp::create(b, function.getLoc(), environment.execution,
                                function, variables.getArrayRef());
  }
}

LogicalResult
mlir::tessera::setRequirements(spirv::ModuleOp module,
                               const SpirvEnvironment &environment,
                               RunPipeline run) {
  PassManager pm(module.getContext(), spirv::ModuleOp::getOperationName());
  pm.addPass(spirv::createSPIRVUpdateVCEPass());
  if (failed(run(pm, module)))
    return failure();
  spirv::VerCapExtAttr triple = *module.getVceTriple();
  llvm::SetVector<spirv::Capability> capabilities;
  llvm::SetVector<spirv::Extension> extensions;
  for (spirv::Capability capability : triple.getCapabilities())
    capabilities.insert(capability);
  for (spirv::Extension extension : triple.getExtensions())
    extensions.insert(extension);
  using C = spirv::Capability;
  capabilities.insert(C::Int64);
  if (environment.isKernel) {
    // Buffers are pointers to bytes.
    for (C capability : {C::Kernel, C::Addresses, C::Int8})
      capabilities.insert(capability);
  } else {
    capabilities.insert(C::Shader);
    capabilities.insert(C::VulkanMemoryModel);
    capabilities.insert(C::PhysicalStorageBufferAddresses);
    extensions.insert(spirv::Extension::SPV_KHR_vulkan_memory_model);
    extensions.insert(spirv::Extension::SPV_KHR_physical_storage_buffer);
    // Upstream requests its predecessor, which Vulkan 1.3 does not accept.
    extensions.remove(spirv::Extension::SPV_EXT_physical_storage_buffer);
  }
  auto add = [&](Type type, bool memory) {
    if (type.isInteger(8)) {
      capabilities.insert(C::Int8);
      if (memory)
        capabilities.insert(C::StorageBuffer8BitAccess);
    } else if (type.isInteger(16) || type.isF16()) {
      capabilities.insert(type.isF16() ? C::Float16 : C::Int16);
      if (memory)
        capabilities.insert(C::StorageBuffer16BitAccess);
    } else if (type.isF64()) {
      capabilities.insert(C::Float64);
    } else if (type.isBF16()) {
      // Matrices only (LowerMemory, ScalarizeVectors).
      capabilities.insert(C::BFloat16TypeKHR);
      capabilities.insert(C::BFloat16CooperativeMatrixKHR);
      extensions.insert(spirv::Extension::SPV_KHR_bfloat16);
    }
  };
  module.walk([&](Operation *op) {
    if (auto scope = op->getAttrOfType<spirv::ScopeAttr>("memory_scope");
        scope && scope.getValue() == spirv::Scope::Device &&
        !environment.isKernel)
      capabilities.insert(C::VulkanMemoryModelDeviceScope);
    if (auto variable = dyn_cast<spirv::GlobalVariableOp>(op)) {
      if (auto builtin = variable->getAttrOfType<StringAttr>("built_in");
          !environment.isKernel && builtin &&
          builtin.getValue().starts_with("Subgroup"))
        capabilities.insert(C::GroupNonUniform);
      auto pointer = cast<spirv::PointerType>(variable.getType());
      if (auto array = dyn_cast<spirv::ArrayType>(pointer.getPointeeType()))
        add(array.getElementType(), false);
    }
    for (Type type : op->getResultTypes()) {
      if (auto pointer = dyn_cast<spirv::PointerType>(type)) {
        Type pointee = pointer.getPointeeType();
        if (auto whole = dyn_cast<spirv::StructType>(pointee))
          if (auto array =
                  dyn_cast<spirv::RuntimeArrayType>(whole.getElementType(0)))
            pointee = array.getElementType();
        if (pointee.isIntOrFloat())
          add(pointee, pointer.getStorageClass() ==
                           spirv::StorageClass::PhysicalStorageBuffer);
      } else if (auto matrix = dyn_cast<spirv::CooperativeMatrixType>(type)) {
        add(matrix.getElementType(), false);
      } else {
        add(getElementTypeOrSelf(type), false);
      }
    }
  });
  module.walk([&](spirv::ExecutionModeOp mode) {
    if (mode.getExecutionMode() == spirv::ExecutionMode::SubgroupSize)
      capabilities.insert(C::SubgroupDispatch);
    if (mode.getExecutionMode() ==
        spirv::ExecutionMode::SignedZeroInfNanPreserve)
      capabilities.insert(C::SignedZeroInfNanPreserve);
  });
  // Upstream marks arithmetic that does not wrap, which requires SPIR-V 1.4
  // or an extension that a driver may lack.
  if (environment.isKernel)
    module.walk([](Operation *op) {
      op->removeAttr("no_signed_wrap");
      op->removeAttr("no_unsigned_wrap");
    });
  // It is implied, and drivers may not know it.
  capabilities.remove(C::DeviceEnqueue);
  if (capabilities.contains(C::StorageBuffer8BitAccess))
    extensions.insert(spirv::Extension::SPV_KHR_8bit_storage);
  if (capabilities.contains(C::StorageBuffer16BitAccess))
    extensions.insert(spirv::Extension::SPV_KHR_16bit_storage);
  // Drivers of OpenCL accept the oldest version most widely; OpenCL 2.2 has
  // 1.2.
  spirv::Version version =
      environment.isKernel
          ? std::max(triple.getVersion(), spirv::Version::V_1_2)
          : spirv::Version::V_1_6;
  if (hasRequest(module))
    version = std::max(version, spirv::Version::V_1_4);
  module.setVceTripleAttr(
      spirv::VerCapExtAttr::get(version, capabilities.getArrayRef(),
                                extensions.getArrayRef(), module.getContext()));
  module->removeAttr(spirv::getTargetEnvAttrName());
  return success();
}
